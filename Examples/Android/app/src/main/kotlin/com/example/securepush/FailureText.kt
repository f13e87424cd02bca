package com.example.securepush

import android.content.Context

/** Why something cannot be had, as the user reads it. The code is for support. */
fun Context.failureText(code: String): String = getString(
    when (code) {
        "SP-KEY" -> R.string.app_failure_not_for_this_device
        "SP-DECRYPT" -> R.string.app_failure_not_decrypted
        "SP-REPLAY", "SP-SENDER", "SP-PLAIN" -> R.string.app_failure_not_trusted
        "SP-EXPIRED", "SP-403", "SP-404", "SP-410" -> R.string.app_failure_gone
        else -> R.string.app_failure
    },
    code
)
