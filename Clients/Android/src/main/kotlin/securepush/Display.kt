package securepush

/** How much of a message is handed to the system, which stores what it shows. Later cases are stricter. */
enum class Display(
    /** The name on the wire. */
    val rawValue: String
) {
    /** The whole message. */
    FULL("full"),
    /** The whole message, which the system hides while the device is locked. */
    REDACTED("redacted"),
    /** The generic text. The app shows the message. */
    APP("app");

    internal companion object {
        /** One of a later server is as strict as the strictest that is known. */
        fun of(rawValue: String): Display = values().find { it.rawValue == rawValue } ?: APP
    }
}
