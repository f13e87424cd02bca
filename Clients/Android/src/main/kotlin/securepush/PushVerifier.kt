package securepush

/**
 * Checks that a push comes from the server: an ES256 signature over the ID, the user and the time.
 *
 * @param maxAge the oldest signature, in milliseconds.
 */
internal class PushVerifier(private val keys: PushKeySet, private val maxAge: Long) {
    /**
     * Checks a push.
     *
     * @param userName the user of the device.
     * @param date now, in milliseconds since 1970.
     * @return `null` if the push is genuine; otherwise the reason to ignore it.
     */
    fun fault(push: IncomingPush, userName: String, date: Long): DiagnosticCode? {
        val (id, timestamp) = Pair(push.id, push.timestamp)
        val seconds = timestamp?.let { seconds(it) } ?: return DiagnosticCode.BAD_SIGNATURE
        val signature = push.signature?.let { Base64Url.decode(it) } ?: return DiagnosticCode.BAD_SIGNATURE
        if (id == null) return DiagnosticCode.BAD_SIGNATURE
        val text = signedText(id, userName, timestamp, push.isWithdrawal).toByteArray()
        if (!keys.verifies(signature, text)) return DiagnosticCode.BAD_SIGNATURE
        return if (isInTime(seconds, date)) null else DiagnosticCode.TOO_OLD
    }

    /** Whether a push has the form of one that was signed lately, so that a key may be there that verifies it. */
    fun mayBeSigned(push: IncomingPush, date: Long): Boolean {
        val seconds = push.timestamp?.let { seconds(it) }
        val signature = push.signature?.let { Base64Url.decode(it) }
        return push.id != null && seconds != null && isInTime(seconds, date) &&
            signature?.size == 2 * P256.NUMBER_BYTES
    }

    private fun isInTime(seconds: Long, date: Long): Boolean = date - seconds * 1_000 in -MAX_AHEAD..maxAge

    companion object {
        /** A time of 1 to 12 digits, without a sign and without a zero in front. */
        private fun seconds(text: String): Long? {
            val isNumber = text.length in 1..12 && text.all { it in '0'..'9' } && (text[0] != '0' || text.length == 1)
            return if (isNumber) text.toLong() else null
        }

        /** The text whose UTF-8 bytes the server signs. */
        fun signedText(id: PushID, userName: String, timestamp: String, isWithdrawal: Boolean): String =
            "securepush-push-v1\n$id\n$userName\n$timestamp\n" + if (isWithdrawal) "withdraw\n" else ""

        /** Clocks differ. A thief of the key must not sign ahead for years. */
        private const val MAX_AHEAD = 86_400_000L
    }
}
