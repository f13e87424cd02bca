package securepush.simulation

import java.nio.ByteBuffer
import java.security.SecureRandom
import javax.crypto.Cipher
import javax.crypto.spec.GCMParameterSpec
import javax.crypto.spec.SecretKeySpec
import securepush.Base64Url
import securepush.SealedKey
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
        val input = SealedKey.hmac(SealedKey.hmac(authSecret, shared), info + byteArrayOf(1))
        val secret = SealedKey.hmac(salt, input)
        fun derive(label: String) = SealedKey.hmac(secret, label.toByteArray() + byteArrayOf(0, 1))
        val key = SecretKeySpec(derive("Content-Encoding: aes128gcm").copyOf(16), "AES")
        val nonce = derive("Content-Encoding: nonce").copyOf(12)
        var body = salt + ByteBuffer.allocate(4).putInt(recordSize).array() + byteArrayOf(65) + sender.publicPoint
        for ((number, content) in contents.withIndex()) {
            val cipher = Cipher.getInstance("AES/GCM/NoPadding")
            // The nonce of a record is XORed with its number.
            val own = nonce.copyOf().also { it[11] = (it[11].toInt() xor number).toByte() }
            cipher.init(Cipher.ENCRYPT_MODE, key, GCMParameterSpec(128, own))
            body += cipher.doFinal(content + byteArrayOf(delimiters[number].toByte()) + ByteArray(padding))
        }
        return body
    }

    fun seal(text: String): ByteArray = seal(text.toByteArray(), padding = maxOf(0, 128 - text.length))
}
