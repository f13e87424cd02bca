package securepush.android

import android.os.Build
import android.security.keystore.KeyGenParameterSpec
import android.security.keystore.KeyProperties
import java.security.GeneralSecurityException
import java.security.InvalidKeyException
import java.security.KeyPairGenerator
import java.security.KeyStore
import java.security.PrivateKey
import java.security.UnrecoverableKeyException
import java.security.interfaces.ECPublicKey
import java.security.spec.ECGenParameterSpec
import securepush.ClientStoreException
import securepush.EnvelopeKeyVault
import securepush.EnvelopePrivateKey
import securepush.P256
import securepush.SoftwareEnvelopeKey

/**
 * Keeps the device's keys for end-to-end encryption in the Android Keystore, which does the exchange itself: in a
 * secure element (StrongBox) where the device has one that can, and otherwise in its secure hardware. The process never
 * has a private key.
 *
 * The Keystore agrees on keys from Android 12 (API 31) on. A new key is tried before it is used. Where that fails,
 * there is none, and the store keeps a key that a [KeystoreBox] encrypts.
 *
 * @param alias the name of the keys; a number follows it.
 */
class KeystoreEnvelopeVault @JvmOverloads constructor(
    private val alias: String = "securepush.e2e"
) : EnvelopeKeyVault {
    override fun make(number: Int): EnvelopePrivateKey? {
        if (Build.VERSION.SDK_INT < FIRST_VERSION) return null
        return attempt(number, inStrongBox = true) ?: attempt(number, inStrongBox = false)
    }

    private fun attempt(number: Int, inStrongBox: Boolean): EnvelopePrivateKey? {
        val key = try {
            generate(number, inStrongBox).takeIf { works(it) }
        } catch (e: GeneralSecurityException) {
            null
        } catch (e: RuntimeException) {
            // Keystores report in many ways what they cannot do.
            null
        } catch (e: ClientStoreException) {
            null
        }
        if (key == null) remove(number)
        return key
    }

    override fun find(number: Int, publicBytes: ByteArray): EnvelopePrivateKey? = try {
        (keyStore().getKey(name(number), null) as? PrivateKey)?.let { KeystoreEnvelopeKey(it, publicBytes) }
    } catch (e: UnrecoverableKeyException) {
        null
    }

    override fun remove(number: Int) = keyStore().deleteEntry(name(number))

    private fun name(number: Int) = "$alias.$number"

    private fun generate(number: Int, inStrongBox: Boolean): EnvelopePrivateKey {
        val generator = KeyPairGenerator.getInstance(KeyProperties.KEY_ALGORITHM_EC, PROVIDER)
        generator.initialize(
            KeyGenParameterSpec.Builder(name(number), KeyProperties.PURPOSE_AGREE_KEY)
                .setAlgorithmParameterSpec(ECGenParameterSpec(P256.NAME))
                .setIsStrongBoxBacked(inStrongBox)
                .build()
        )
        val pair = generator.generateKeyPair()
        return KeystoreEnvelopeKey(pair.private, P256.bytes((pair.public as ECPublicKey).w))
    }

    private fun works(key: EnvelopePrivateKey): Boolean {
        val other = SoftwareEnvelopeKey.generate()
        return key.agree(other.publicBytes).contentEquals(other.agree(key.publicBytes))
    }

    private fun keyStore(): KeyStore = KeyStore.getInstance(PROVIDER).apply { load(null) }

    internal companion object {
        const val PROVIDER = "AndroidKeyStore"
        /** Android 12. */
        const val FIRST_VERSION = 31
    }
}

/** A key of the Keystore. */
private class KeystoreEnvelopeKey(private val key: PrivateKey, override val publicBytes: ByteArray) :
    EnvelopePrivateKey() {
    override fun agree(other: ByteArray): ByteArray {
        // The Keystore does not say why it fails.
        val point = P256.point(other) ?: throw InvalidKeyException("This is no point on the curve.")
        try {
            return P256.agree(key, point, KeystoreEnvelopeVault.PROVIDER)
        } catch (e: GeneralSecurityException) {
            throw ClientStoreException(ClientStoreException.Reason.UNREADABLE)
        } catch (e: RuntimeException) {
            throw ClientStoreException(ClientStoreException.Reason.UNREADABLE)
        }
    }
}
