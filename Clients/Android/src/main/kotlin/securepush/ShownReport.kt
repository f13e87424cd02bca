package securepush

import org.json.JSONObject

/** What the server is told of a notification: whether the user sees its secret, or the generic text and why. */
internal data class ShownReport(
    val id: PushID,
    val isSecret: Boolean = true,
    /** The code of the generic text; `null` if nothing is wrong. */
    val code: DiagnosticCode? = null
) {
    /** The body of `POST /api/notifications/{id}/shown`. */
    fun body(device: String?): String = JSONObject().put("Text", if (isSecret) "secret" else "generic")
        .put("Code", code?.rawValue).put("Sdk", "android/$SDK_VERSION").put("DeviceId", device).toString()
}

/** The version of the SDK: that of `build.gradle.kts`. */
internal const val SDK_VERSION = "0.2.0-alpha.1"
