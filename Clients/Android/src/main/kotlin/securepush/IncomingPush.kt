package securepush

/**
 * A push, read but not yet believed: the client verifies its signature before it acts on it.
 *
 * Make it where the system hands over the push, and pass it to [SecurePushClient.handle]. Reading never fails. Only the
 * ID, the withdrawal, the time and the signature are read; hosts and texts in a push are ignored.
 */
class IncomingPush internal constructor(
    /**
     * Whether the push has the member `secureId`. Others belong to another part of the app, and
     * [SecurePushClient.handle] ignores them.
     */
    val isOurs: Boolean,
    /** The notification's ID; `null` if it cannot be used. */
    val id: PushID? = null,
    /** Whether the push asks to remove the notification. */
    val isWithdrawal: Boolean = false,
    /** `ts`, as the push has it. */
    internal val timestamp: String? = null,
    /** `sig`, as the push has it. */
    internal val signature: String? = null
) {
    override fun toString(): String = "push for $id"

    companion object {
        /** Reads a push of Firebase or Amazon: the `data` of the message. */
        @JvmStatic
        fun of(data: Map<String, String?>): IncomingPush {
            val text = data["secureId"] ?: return IncomingPush(isOurs = data.containsKey("secureId"))
            val id = PushID.of(text)
            val withdraw = data["withdraw"]
            if (id == null || (withdraw != "1" && data.containsKey("withdraw"))) return IncomingPush(isOurs = true)
            return IncomingPush(true, id, withdraw != null, short(data["ts"]), short(data["sig"]))
        }

        /** A text that can be a time or a signature. What is longer is neither, and is not kept. */
        private fun short(text: String?): String? =
            text?.takeIf { it.length <= MAX_VALUE_BYTES && it.toByteArray().size <= MAX_VALUE_BYTES }

        private const val MAX_VALUE_BYTES = 128
    }
}
