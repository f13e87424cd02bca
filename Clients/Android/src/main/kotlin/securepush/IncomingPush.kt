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

        /**
         * Reads the body of a push of Web Push, decrypted: a JSON object. Other content cannot be used; one without
         * `secureId` belongs to another part of the app.
         */
        @JvmStatic
        fun ofWebPush(content: ByteArray): IncomingPush {
            val unusable = IncomingPush(isOurs = true)
            if (content.size > MAX_CONTENT_BYTES) return unusable
            return try {
                val members = JsonValue.parse(content, strict = true).members()
                // Only these are read. A value that is no text makes the push unusable, or counts as missing.
                of(NAMES.filter { it in members }.associateWith { members[it]?.textOrNull() })
            } catch (e: JsonValue.Malformed) {
                unusable
            }
        }

        /** A text that can be a time or a signature; a longer one is dropped. */
        private fun short(text: String?): String? =
            text?.takeIf { it.length <= MAX_VALUE_BYTES && it.toByteArray().size <= MAX_VALUE_BYTES }

        private val NAMES = listOf("secureId", "withdraw", "ts", "sig")
        private const val MAX_VALUE_BYTES = 128
        /** Push services take 4,096. */
        private const val MAX_CONTENT_BYTES = 8_192
    }
}
