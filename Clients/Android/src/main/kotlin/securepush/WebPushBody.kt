package securepush

import java.math.BigInteger
import java.security.GeneralSecurityException

/**
 * The body of a push of Web Push: content encoding `aes128gcm` (RFC 8188) with one record, encrypted for one device
 * (RFC 8291).
 */
internal object WebPushBody {
    private const val SALT_BYTES = 16
    /** The salt, the record size, the length of the key and the key. */
    private const val HEADER_BYTES = SALT_BYTES + 4 + 1 + WebPushKeys.POINT_BYTES
    /** A record has the delimiter and the tag at least (RFC 8188, section 2). */
    private const val MIN_RECORD_BYTES = 1 + 16
    private const val MIN_RECORD_SIZE = MIN_RECORD_BYTES + 1L
    /** No push service has to take more (RFC 8030, section 7.2), and UnifiedPush forwards no more. */
    const val MAX_BYTES = 4_096

    /** Decrypts a body; `null` if it is not for these keys, was changed, or has another form. */
    fun open(body: ByteArray, keys: WebPushKeys): ByteArray? {
        if (body.size !in HEADER_BYTES + MIN_RECORD_BYTES..MAX_BYTES) return null
        val recordSize = BigInteger(1, body.copyOfRange(SALT_BYTES, SALT_BYTES + 4)).toLong()
        // A message with more than one record is not allowed (RFC 8291, section 4).
        if (recordSize < MIN_RECORD_SIZE || body.size - HEADER_BYTES > recordSize) return null
        if (body[SALT_BYTES + 4].toInt() != WebPushKeys.POINT_BYTES) return null
        val sender = body.copyOfRange(HEADER_BYTES - WebPushKeys.POINT_BYTES, HEADER_BYTES)
        return try {
            val shared = keys.agree(sender) ?: return null
            content(decrypt(body, shared, "WebPush: info\u0000".toByteArray() + keys.publicPoint + sender, keys))
        } catch (e: GeneralSecurityException) {
            null
        }
    }

    private fun decrypt(body: ByteArray, shared: ByteArray, info: ByteArray, keys: WebPushKeys): ByteArray {
        // RFC 8291, section 3.4.
        val input = SealedKey.hmac(SealedKey.hmac(keys.authSecret, shared), info + byteArrayOf(1))
        val secret = SealedKey.hmac(body.copyOf(SALT_BYTES), input)
        val key = derive(secret, "Content-Encoding: aes128gcm", 16)
        val nonce = derive(secret, "Content-Encoding: nonce", 12)
        return SealedKey.openGcm(key, nonce, body.copyOfRange(HEADER_BYTES, body.size), ByteArray(0))
    }

    private fun derive(secret: ByteArray, label: String, length: Int): ByteArray =
        SealedKey.hmac(secret, label.toByteArray() + byteArrayOf(0, 1)).copyOf(length)

    /** The content without the delimiter of the last record, 2, and the zeros after it. */
    private fun content(record: ByteArray): ByteArray? {
        val end = record.indexOfLast { it.toInt() != 0 }
        return if (end >= 0 && record[end].toInt() == 2) record.copyOf(end) else null
    }
}
