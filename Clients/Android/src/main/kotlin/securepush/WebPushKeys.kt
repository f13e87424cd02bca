package securepush

import java.security.SecureRandom

/**
 * The keys of this device for Web Push (RFC 8291): a key pair on P-256 and the authentication secret. The server gets
 * the public point and the secret; the private key never leaves the device.
 */
internal class WebPushKeys private constructor(
    private val pair: P256KeyPair,
    /** The 16 bytes of the authentication secret. */
    val authSecret: ByteArray
) {
    /** The 65 bytes of the public point. */
    val publicPoint: ByteArray get() = pair.publicPoint

    /** The public point in base64url, as a registration has it. */
    val p256dh: String get() = Base64Url.encode(publicPoint)

    /** The authentication secret in base64url, as a registration has it. */
    val auth: String get() = Base64Url.encode(authSecret)

    /** The private key, the point and the secret, for the store: never log them. */
    val encoded: ByteArray get() = pair.encoded + authSecret

    override fun toString(): String = "keys for Web Push"

    /** The secret that this key shares with another one; `null` if the bytes are no point on the curve. */
    fun agree(point: ByteArray): ByteArray? = pair.agree(point)

    companion object {
        private const val SECRET_BYTES = 16

        /** Makes new keys. */
        fun generate() =
            WebPushKeys(P256KeyPair.generate(), ByteArray(SECRET_BYTES).also { SecureRandom().nextBytes(it) })

        /** Takes what [encoded] was; `null` if it is damaged. */
        fun of(bytes: ByteArray): WebPushKeys? {
            if (bytes.size != P256KeyPair.BYTES + SECRET_BYTES) return null
            val pair = P256KeyPair.of(bytes.copyOf(P256KeyPair.BYTES)) ?: return null
            return WebPushKeys(pair, bytes.copyOfRange(P256KeyPair.BYTES, bytes.size))
        }
    }
}
