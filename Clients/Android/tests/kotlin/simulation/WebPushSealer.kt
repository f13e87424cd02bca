package securepush.simulation

import java.nio.ByteBuffer
import java.security.SecureRandom
import securepush.AesGcm
import securepush.Base64Url
import securepush.Hkdf
import securepush.WebPushKeys

/** Encrypts pushes as the hub does (RFC 8291), and also as it must not. */
class WebPushSealer(p256dh: String, auth: String) {
    private val receiver = checkNotNull(Base64Url.decode(p256dh))
    private val authSecret = checkNotNull(Base64Url.decode(auth))

    /**
     * A body.
     *
     * @param recordSize the one in the header.
     * @param contents one for each record.
     * @param delimiters the byte after the content of each record.
     */
    fun seal(
        vararg contents: ByteArray, padding: Int = 0, recordSize: Int = 4_096,
        delimiters: List<Int> = contents.indices.map { if (it == contents.size - 1) 2 else 1 }
    ): ByteArray {
        val sender = WebPushKeys.generate()
        val salt = ByteArray(16).also { SecureRandom().nextBytes(it) }
        val shared = checkNotNull(sender.agree(receiver))
        val info = "WebPush: info\u0000".toByteArray() + receiver + sender.publicPoint
        val secret = Hkdf.extract(salt, Hkdf.expand(Hkdf.extract(authSecret, shared), info, 32))
        fun derive(label: String, length: Int) = Hkdf.expand(secret, label.toByteArray() + byteArrayOf(0), length)
        val key = derive("Content-Encoding: aes128gcm", 16)
        val nonce = derive("Content-Encoding: nonce", 12)
        var body = salt + ByteBuffer.allocate(4).putInt(recordSize).array() + byteArrayOf(65) + sender.publicPoint
        for ((number, content) in contents.withIndex()) {
            // The nonce of a record is XORed with its number.
            val own = nonce.copyOf().also { it[11] = (it[11].toInt() xor number).toByte() }
            val record = content + byteArrayOf(delimiters[number].toByte()) + ByteArray(padding)
            body += AesGcm.seal(key, own, record, ByteArray(0))
        }
        return body
    }

    fun seal(text: String): ByteArray = seal(text.toByteArray(), padding = maxOf(0, 128 - text.length))
}
