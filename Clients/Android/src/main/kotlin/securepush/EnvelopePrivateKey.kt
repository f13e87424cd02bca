package securepush

import java.security.SecureRandom
import org.bouncycastle.crypto.agreement.X25519Agreement
import org.bouncycastle.crypto.params.X25519PrivateKeyParameters
import org.bouncycastle.crypto.params.X25519PublicKeyParameters

/** The key of this device for end-to-end encryption: X25519 (RFC 7748). The private half never leaves the device. */
abstract class EnvelopePrivateKey {
    /** The 32 bytes of the public key. */
    abstract val publicBytes: ByteArray

    /**
     * The shared secret with another public key.
     *
     * @param other 32 bytes.
     * @throws IllegalStateException for a point of low order, with which every secret would be zero.
     * @throws ClientStoreException if the key cannot be used now.
     */
    abstract fun agree(other: ByteArray): ByteArray

    /** The public key as a JSON Web Key (RFC 8037). */
    val publicJwk: String
        get() = "{\"kty\":\"OKP\",\"crv\":\"X25519\",\"x\":\"${Base64Url.encode(publicBytes)}\"}"

    final override fun toString(): String = "private key"

    companion object {
        /** The length of a private key, and of a public one, in bytes. */
        const val BYTES = 32
    }
}

/**
 * A key in the memory of the process.
 *
 * Bouncy Castle makes the exchange, because `javax.crypto` has X25519 only from Android 13 (API 33) on.
 */
class SoftwareEnvelopeKey private constructor(private val key: X25519PrivateKeyParameters) : EnvelopePrivateKey() {
    /** The 32 bytes of the private key, for stores: never log them. */
    val rawRepresentation: ByteArray get() = key.encoded

    override val publicBytes: ByteArray get() = key.generatePublicKey().encoded

    override fun agree(other: ByteArray): ByteArray {
        val agreement = X25519Agreement()
        agreement.init(key)
        val secret = ByteArray(agreement.agreementSize)
        agreement.calculateAgreement(X25519PublicKeyParameters(other, 0), secret, 0)
        return secret
    }

    companion object {
        /** Makes a new key. */
        @JvmStatic
        fun generate() = SoftwareEnvelopeKey(X25519PrivateKeyParameters(SecureRandom()))

        /** Takes the bytes of a private key; `null` if there are not 32 of them. */
        @JvmStatic
        fun of(bytes: ByteArray): SoftwareEnvelopeKey? =
            if (bytes.size == BYTES) SoftwareEnvelopeKey(X25519PrivateKeyParameters(bytes, 0)) else null
    }
}

/** Keeps the device's private key where the process cannot read it. `KeystoreEnvelopeVault` is the one for Android. */
interface EnvelopeKeyVault {
    /**
     * Makes the key, in place of the last one; `null` if this device cannot have such keys here.
     *
     * @throws Exception if the vault cannot be used now.
     */
    @Throws(Exception::class)
    fun make(): EnvelopePrivateKey?

    /**
     * Finds the key; `null` if it is lost.
     *
     * @param publicBytes its public half, as [make] returned it.
     * @throws Exception if the vault cannot be used now.
     */
    @Throws(Exception::class)
    fun find(publicBytes: ByteArray): EnvelopePrivateKey?

    /**
     * Removes the key, if there is one.
     *
     * @throws Exception if the vault cannot be used now.
     */
    @Throws(Exception::class)
    fun remove()
}
