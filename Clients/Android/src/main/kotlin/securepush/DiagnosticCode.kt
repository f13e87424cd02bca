package securepush

/** Why the user sees the generic text: a short code for support, such as `SP-401`. It says nothing of the secret. */
class DiagnosticCode(
    /** The code. */
    val rawValue: String
) {
    override fun equals(other: Any?): Boolean = other is DiagnosticCode && other.rawValue == rawValue

    override fun hashCode(): Int = rawValue.hashCode()

    override fun toString(): String = rawValue

    /** Whether it makes sense to ask the server for more after this failure. */
    internal val allowsCatchUp: Boolean
        get() = this != LOGGED_OUT && this != UNAUTHORIZED && this != LOCKED && this != CREDENTIALS &&
            this != TIMED_OUT && this != UNREACHABLE && this != UNTRUSTED

    /** Whether the user has to log in. */
    internal val asksForLogIn: Boolean get() = this == LOGGED_OUT || this == UNAUTHORIZED

    /** Whether the same request may succeed later, without the user doing anything. */
    val canHeal: Boolean
        get() = this == TIMED_OUT || this == UNREACHABLE || this == CREDENTIALS || this == NOT_PRESENTED ||
            this == MALFORMED_ANSWER || this == status(408) || this == status(429) || HEALING_STATUS.matches(rawValue)

    /** Whether this device has the payload and will never show it. */
    internal val isOfEnvelope: Boolean
        get() = this == NO_KEY || this == UNOPENABLE || this == UNKNOWN_SENDER || this == REPLAYED ||
            this == NOT_ENCRYPTED

    companion object {
        /** The server answered with this HTTP status: `SP-404`. */
        @JvmStatic
        fun status(status: Int): DiagnosticCode = DiagnosticCode("SP-$status")

        /** Nobody is logged in, so nothing was asked. */
        @JvmField val LOGGED_OUT = DiagnosticCode("SP-LOGIN")
        /** The credentials could not be read or refreshed now. */
        @JvmField val CREDENTIALS = DiagnosticCode("SP-CREDENTIALS")
        /** The time was up. */
        @JvmField val TIMED_OUT = DiagnosticCode("SP-TIMEOUT")
        /** No connection to the server. */
        @JvmField val UNREACHABLE = DiagnosticCode("SP-OFFLINE")
        /** The server's certificate is not trusted. */
        @JvmField val UNTRUSTED = DiagnosticCode("SP-TLS")
        /** The answer is longer than [ClientLimits.maxAnswerBytes]. */
        @JvmField val TOO_LARGE = DiagnosticCode("SP-SIZE")
        /** The answer is not the JSON that it should be. */
        @JvmField val MALFORMED_ANSWER = DiagnosticCode("SP-JSON")
        /** The answer is for another ID. */
        @JvmField val WRONG_ID = DiagnosticCode("SP-ID")
        /** The push has no ID that can be used. */
        @JvmField val MALFORMED_PUSH = DiagnosticCode("SP-PUSH")
        /** The push has no valid signature. */
        @JvmField val BAD_SIGNATURE = DiagnosticCode("SP-SIGNATURE")
        /** The push was signed more than 28 days ago, or will be in more than a day. */
        @JvmField val TOO_OLD = DiagnosticCode("SP-AGE")
        /** The device was not unlocked since it started, so neither credentials nor store can be read. */
        @JvmField val LOCKED = DiagnosticCode("SP-LOCKED")
        /** The system refused to show the secret. */
        @JvmField val NOT_PRESENTED = DiagnosticCode("SP-SHOW")
        /** The payload is encrypted, and not for this device. */
        @JvmField val NO_KEY = DiagnosticCode("SP-KEY")
        /** The payload is encrypted for this device, and cannot be opened. */
        @JvmField val UNOPENABLE = DiagnosticCode("SP-DECRYPT")
        /** The payload has no signature of one of [SecurePushConfiguration.senderKeys]. */
        @JvmField val UNKNOWN_SENDER = DiagnosticCode("SP-SENDER")
        /** The same encrypted payload has come before as another notification, or it is too old. */
        @JvmField val REPLAYED = DiagnosticCode("SP-REPLAY")
        /** The payload is not encrypted, and [SecurePushConfiguration.requiresEncryption]. */
        @JvmField val NOT_ENCRYPTED = DiagnosticCode("SP-PLAIN")
        /** The payload has expired. */
        @JvmField val EXPIRED = DiagnosticCode("SP-EXPIRED")

        private val UNAUTHORIZED = status(401)
        private val HEALING_STATUS = Regex("SP-5[0-9][0-9]")
    }
}

/** A request of the app that failed. The code says more. */
open class SecurePushFailure @JvmOverloads constructor(
    /** The reason. */
    val code: DiagnosticCode,
    /**
     * The device is registered under this ID, and gets what is not encrypted; only the server may not have its key.
     * `null` for every other failure.
     */
    val installationID: String? = null
) : Exception(
    if (installationID == null) {
        "The request to the retrieval service failed ($code)."
    } else {
        "The device is registered, but its key for end-to-end encryption is not ($code)."
    }
)
