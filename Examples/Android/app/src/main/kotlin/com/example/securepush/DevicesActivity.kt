package com.example.securepush

import android.widget.Button
import java.text.DateFormat
import java.util.Date
import securepush.UserDevice

/** The user's devices, each with a button that removes it, and the fingerprint of this device's key. */
class DevicesActivity : ColumnActivity() {
    override fun onResume() {
        super.onResume()
        load()
    }

    private fun load() = session.loadDevices(
        { devices, fingerprint -> onScreen { show(devices, fingerprint) } }, { onScreen { fail(it) } }
    )

    private fun show(devices: List<UserDevice>, fingerprint: String?) {
        column.removeAllViews()
        add(fingerprint?.let { getString(R.string.app_fingerprint, it) } ?: getString(R.string.app_fingerprint_none))
        for (device in devices) {
            val day = device.lastSeenAt?.let { DateFormat.getDateInstance().format(Date.from(it)) } ?: ""
            val text = if (device.isThisDevice) R.string.app_device_this else R.string.app_device
            add(getString(text, device.platform, day))
            if (!device.isThisDevice) {
                button(R.string.app_device_remove) {
                    session.removeDevice(device.id, { load() }, { onScreen { fail(it) } })
                }
            }
        }
        button(R.string.app_sign_out_everywhere) {
            session.signOutEverywhere({ onScreen { finish() } }, { onScreen { fail(it) } })
        }
    }

    private fun fail(code: String) = say(failureText(code))

    private fun add(text: String) = column.addView(line(text))

    private fun button(title: Int, action: () -> Unit) {
        val button = Button(this)
        button.text = getString(title)
        button.setOnClickListener { action() }
        column.addView(button)
    }
}
