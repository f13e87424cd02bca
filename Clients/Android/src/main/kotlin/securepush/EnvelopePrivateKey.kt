package securepush

import java.security.InvalidKeyException

/** A key of this device for end-to-end encryption, on P-256. The private half never leaves the device. */
abstract class EnvelopePrivateKey {
    /** The 65 bytes of the public point, not compressed (SEC 1, section 2.3.3). */
    abstract val publicBytes: ByteArray

    /**
     * The shared secret with another public key: the 32 bytes of the point's x coordinate.
     *
     * @param other 65 bytes.
     * @throws java.security.GeneralSecurityException if the bytes are no point on the curve.
     * @throws ClientStoreException if the key cannot be used now.
     */
    abstract fun agree(other: ByteArray): ByteArray

    private val jwk: PublicJwk get() = checkNotNull(PublicJwk.of(publicBytes)) { "The key is no point." }

    /** The public key as a JSON Web Key (RFC 7518, section 6.2). */
    val publicJwk: String get() = jwk.text

    /** The public key's [SecurePushClient.encryptionKeyFingerprint]. */
    val fingerprint: String get() = jwk.fingerprint

    final override fun toString(): String = "private key"
}

/** A key in the memory of the process. */
internal class SoftwareEnvelopeKey(val pair: P256KeyPair) : EnvelopePrivateKey() {
    override val publicBytes: ByteArray get() = pair.publicPoint

    override fun agree(other: ByteArray): ByteArray =
        pair.agree(other) ?: throw InvalidKeyException("This is no point on the curve.")

    companion object {
        fun generate() = SoftwareEnvelopeKey(P256KeyPair.generate())
    }
}

/**
 * Keeps the device's private keys where the process cannot read them. `KeystoreEnvelopeVault` is the one for Android.
 *
 * Each key has a number. A device has a few: the newest one, and those before it.
 */
interface EnvelopeKeyVault {
    /**
     * Makes a key, in place of one with the same number; `null` if this device cannot have such keys here.
     *
     * @throws Exception if the vault cannot be used now.
     */
    @Throws(Exception::class)
    fun make(number: Int): EnvelopePrivateKey?

    /**
     * Finds a key; `null` if it is lost.
     *
     * @param publicBytes its public half, as [make] returned it.
     * @throws Exception if the vault cannot be used now.
     */
    @Throws(Exception::class)
    fun find(number: Int, publicBytes: ByteArray): EnvelopePrivateKey?

    /**
     * Removes a key, if there is one.
     *
     * @throws Exception if the vault cannot be used now.
     */
    @Throws(Exception::class)
    fun remove(number: Int)
}
