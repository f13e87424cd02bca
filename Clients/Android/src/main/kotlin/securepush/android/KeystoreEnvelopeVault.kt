package securepush.android

import android.os.Build
import android.security.keystore.KeyGenParameterSpec
import android.security.keystore.KeyProperties
import java.security.GeneralSecurityException
import java.security.KeyFactory
import java.security.KeyPairGenerator
import java.security.KeyStore
import java.security.PrivateKey
import java.security.UnrecoverableKeyException
import java.security.spec.ECGenParameterSpec
import java.security.spec.X509EncodedKeySpec
import javax.crypto.KeyAgreement
import securepush.ClientStoreException
import securepush.EnvelopeKeyVault
import securepush.EnvelopePrivateKey
import securepush.SoftwareEnvelopeKey

/**
 * Keeps the device's key for end-to-end encryption in the Android Keystore, which does the exchange itself: in secure
 * hardware where the device has some. The process never has the private key.
 *
 * The Keystore has X25519 from Android 13 (API 33) on, but not on every device. A new key is tried before it is used.
 * Where that fails, there is none, and the store keeps a key that a [KeystoreBox] encrypts.
 *
 * @param alias the name of the key.
 */
class KeystoreEnvelopeVault @JvmOverloads constructor(
    private val alias: String = "securepush.e2e"
) : EnvelopeKeyVault {
    override fun make(): EnvelopePrivateKey? {
        if (Build.VERSION.SDK_INT < FIRST_VERSION) return null
        val key = try {
            generate().takeIf { works(it) }
        } catch (e: GeneralSecurityException) {
            null
        } catch (e: RuntimeException) {
            // Keystores report in many ways what they cannot do.
            null
        } catch (e: ClientStoreException) {
            null
        }
        if (key == null) remove()
        return key
    }

    override fun find(publicBytes: ByteArray): EnvelopePrivateKey? = try {
        (keyStore().getKey(alias, null) as? PrivateKey)?.let { KeystoreEnvelopeKey(it, publicBytes) }
    } catch (e: UnrecoverableKeyException) {
        null
    }

    override fun remove() = keyStore().deleteEntry(alias)

    /** The Keystore has the generator for the curve under the name `EC`, and the exchange under the name `XDH`. */
    private fun generate(): EnvelopePrivateKey {
        val generator = KeyPairGenerator.getInstance(KeyProperties.KEY_ALGORITHM_EC, PROVIDER)
        generator.initialize(
            KeyGenParameterSpec.Builder(alias, KeyProperties.PURPOSE_AGREE_KEY)
                .setAlgorithmParameterSpec(ECGenParameterSpec("x25519"))
                .build()
        )
        val pair = generator.generateKeyPair()
        // The key's bytes are the last ones of the encoding (RFC 8410, section 4).
        val encoded = pair.public.encoded
        val publicBytes = encoded.copyOfRange(encoded.size - EnvelopePrivateKey.BYTES, encoded.size)
        return KeystoreEnvelopeKey(pair.private, publicBytes)
    }

    private fun works(key: EnvelopePrivateKey): Boolean {
        val other = SoftwareEnvelopeKey.generate()
        return key.agree(other.publicBytes).contentEquals(other.agree(key.publicBytes))
    }

    private fun keyStore(): KeyStore = KeyStore.getInstance(PROVIDER).apply { load(null) }

    internal companion object {
        const val PROVIDER = "AndroidKeyStore"
        /** Android 13. */
        const val FIRST_VERSION = 33
    }
}

/** A key of the Keystore. */
private class KeystoreEnvelopeKey(private val key: PrivateKey, override val publicBytes: ByteArray) :
    EnvelopePrivateKey() {
    override fun agree(other: ByteArray): ByteArray {
        // The Keystore does not say why it fails. A point of low order fails with every key.
        SoftwareEnvelopeKey.generate().agree(other)
        try {
            val peer = KeyFactory.getInstance(ALGORITHM).generatePublic(X509EncodedKeySpec(X509_PREFIX + other))
            val agreement = KeyAgreement.getInstance(ALGORITHM, KeystoreEnvelopeVault.PROVIDER)
            agreement.init(key)
            agreement.doPhase(peer, true)
            return agreement.generateSecret()
        } catch (e: GeneralSecurityException) {
            throw ClientStoreException(ClientStoreException.Reason.UNREADABLE)
        } catch (e: RuntimeException) {
            throw ClientStoreException(ClientStoreException.Reason.UNREADABLE)
        }
    }

    private companion object {
        const val ALGORITHM = "XDH"
        /** What is before the 32 bytes of an X25519 key in the form SubjectPublicKeyInfo (RFC 8410, section 4). */
        val X509_PREFIX = byteArrayOf(0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x6e, 0x03, 0x21, 0x00)
    }
}
