package securepush

import org.bouncycastle.crypto.params.Ed25519PublicKeyParameters
import org.bouncycastle.crypto.signers.Ed25519Signer

/**
 * Checks that a push comes from the server: an Ed25519 signature over the ID, the user and the time.
 *
 * The signature is checked by Bouncy Castle, because Android's own providers have no Ed25519 for public keys of others
 * on the older versions that the SDK supports.
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
        val seconds = push.timestamp?.let { seconds(it) } ?: return DiagnosticCode.BAD_SIGNATURE
        val signature = push.signature?.let { Base64Url.decode(it) } ?: return DiagnosticCode.BAD_SIGNATURE
        if (push.id == null || signature.size != SIGNATURE_BYTES) return DiagnosticCode.BAD_SIGNATURE
        val text = signedText(push.id, userName, push.timestamp, push.isWithdrawal).toByteArray()
        if (keys.keys.none { isValid(signature, text, it) }) return DiagnosticCode.BAD_SIGNATURE
        // A time in the future is a clock that is behind. The signature says that the server wrote it.
        return if (date - seconds * 1_000 > maxAge) DiagnosticCode.TOO_OLD else null
    }

    /** A key that is no point of the curve verifies nothing. Bouncy Castle reports it since 1.73, when it is read. */
    private fun isValid(signature: ByteArray, text: ByteArray, key: ByteArray): Boolean = try {
        val signer = Ed25519Signer()
        signer.init(false, Ed25519PublicKeyParameters(key, 0))
        signer.update(text, 0, text.size)
        signer.verifySignature(signature)
    } catch (e: RuntimeException) {
        false
    }

    /** A time of 1 to 12 digits, without a sign and without a zero in front. */
    private fun seconds(text: String): Long? {
        if (text.length !in 1..12 || !text.all { it in '0'..'9' } || (text[0] == '0' && text.length > 1)) return null
        return text.toLong()
    }

    companion object {
        /** The text whose UTF-8 bytes the server signs. */
        fun signedText(id: PushID, userName: String, timestamp: String, isWithdrawal: Boolean): String =
            "securepush-push-v1\n$id\n$userName\n$timestamp\n" + if (isWithdrawal) "withdraw\n" else ""

        private const val SIGNATURE_BYTES = 64
    }
}
