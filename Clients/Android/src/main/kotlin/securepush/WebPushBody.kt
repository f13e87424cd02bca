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
    private const val HEADER_BYTES = SALT_BYTES + 4 + 1 + P256.POINT_BYTES
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
        if (body[SALT_BYTES + 4].toInt() != P256.POINT_BYTES) return null
        val sender = body.copyOfRange(HEADER_BYTES - P256.POINT_BYTES, HEADER_BYTES)
        return try {
            val shared = keys.agree(sender) ?: return null
            content(decrypt(body, shared, "WebPush: info\u0000".toByteArray() + keys.publicPoint + sender, keys))
        } catch (e: GeneralSecurityException) {
            null
        }
    }

    private fun decrypt(body: ByteArray, shared: ByteArray, info: ByteArray, keys: WebPushKeys): ByteArray {
        // RFC 8291, section 3.4.
        val material = Hkdf.expand(Hkdf.extract(keys.authSecret, shared), info, 32)
        val secret = Hkdf.extract(body.copyOf(SALT_BYTES), material)
        val key = Hkdf.expand(secret, "Content-Encoding: aes128gcm\u0000".toByteArray(), 16)
        val nonce = Hkdf.expand(secret, "Content-Encoding: nonce\u0000".toByteArray(), 12)
        return AesGcm.open(key, nonce, body.copyOfRange(HEADER_BYTES, body.size), ByteArray(0))
    }

    /** The content without the delimiter of the last record, 2, and the zeros after it. */
    private fun content(record: ByteArray): ByteArray? {
        val end = record.indexOfLast { it.toInt() != 0 }
        return if (end >= 0 && record[end].toInt() == 2) record.copyOf(end) else null
    }
}
