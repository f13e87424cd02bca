package securepush

import java.security.SecureRandom
import org.bouncycastle.crypto.agreement.X25519Agreement
import org.bouncycastle.crypto.params.X25519PrivateKeyParameters
import org.bouncycastle.crypto.params.X25519PublicKeyParameters

/**
 * The key of this device for end-to-end encryption: X25519 (RFC 7748). The private half never leaves the device.
 *
 * Bouncy Castle makes the exchange, because `javax.crypto` has X25519 only from Android 13 (API 33) on.
 */
class EnvelopePrivateKey private constructor(private val key: X25519PrivateKeyParameters) {
    /** The 32 bytes of the private key, for stores: never log them. */
    val rawRepresentation: ByteArray get() = key.encoded

    /** The public key as a JSON Web Key (RFC 8037). */
    val publicJwk: String
        get() = "{\"kty\":\"OKP\",\"crv\":\"X25519\",\"x\":\"${Base64Url.encode(publicBytes)}\"}"

    internal val publicBytes: ByteArray get() = key.generatePublicKey().encoded

    /**
     * The shared secret with another key.
     *
     * @throws IllegalStateException for a point of low order, with which every secret would be zero.
     */
    internal fun agree(other: ByteArray): ByteArray {
        val agreement = X25519Agreement()
        agreement.init(key)
        val secret = ByteArray(agreement.agreementSize)
        agreement.calculateAgreement(X25519PublicKeyParameters(other, 0), secret, 0)
        return secret
    }

    override fun toString(): String = "private key"

    companion object {
        /** The length of a private key in bytes. */
        const val BYTES = 32

        /** Makes a new key. */
        @JvmStatic
        fun generate() = EnvelopePrivateKey(X25519PrivateKeyParameters(SecureRandom()))

        /** Takes the bytes of a private key; `null` if there are not 32 of them. */
        @JvmStatic
        fun of(bytes: ByteArray): EnvelopePrivateKey? =
            if (bytes.size == BYTES) EnvelopePrivateKey(X25519PrivateKeyParameters(bytes, 0)) else null
    }
}
