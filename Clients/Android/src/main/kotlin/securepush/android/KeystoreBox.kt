package securepush.android

import android.security.keystore.KeyGenParameterSpec
import android.security.keystore.KeyProperties
import java.security.InvalidKeyException
import java.security.KeyStore
import java.security.UnrecoverableKeyException
import javax.crypto.AEADBadTagException
import javax.crypto.Cipher
import javax.crypto.KeyGenerator
import javax.crypto.SecretKey
import javax.crypto.spec.GCMParameterSpec
import securepush.SecretBox

/**
 * Encrypts with a key of the Android Keystore (AES-256-GCM), which never leaves the device's secure hardware where it
 * has some. The key can be used while the screen is locked, because pushes come then, too.
 *
 * @param alias the name of the key.
 */
class KeystoreBox @JvmOverloads constructor(private val alias: String = "securepush") : SecretBox {
    override fun seal(content: ByteArray): ByteArray {
        val cipher = Cipher.getInstance(TRANSFORMATION)
        cipher.init(Cipher.ENCRYPT_MODE, key() ?: generate())
        return byteArrayOf(cipher.iv.size.toByte()) + cipher.iv + cipher.doFinal(content)
    }

    override fun open(sealed: ByteArray): ByteArray? {
        val length = if (sealed.isEmpty()) 0 else sealed[0].toInt()
        if (length !in 1..MAX_IV_BYTES || sealed.size < length + 1 + TAG_BITS / 8) return null
        try {
            val cipher = Cipher.getInstance(TRANSFORMATION)
            cipher.init(Cipher.DECRYPT_MODE, key() ?: return null, GCMParameterSpec(TAG_BITS, sealed, 1, length))
            return cipher.doFinal(sealed, length + 1, sealed.size - length - 1)
        } catch (e: AEADBadTagException) {
            return null
        } catch (e: InvalidKeyException) {
            // The key was invalidated, for example because the user's data was restored on another device.
            return null
        }
    }

    private fun key(): SecretKey? = try {
        keyStore().getKey(alias, null) as? SecretKey
    } catch (e: UnrecoverableKeyException) {
        null
    }

    private fun generate(): SecretKey {
        val generator = KeyGenerator.getInstance(KeyProperties.KEY_ALGORITHM_AES, PROVIDER)
        generator.init(
            KeyGenParameterSpec.Builder(alias, KeyProperties.PURPOSE_ENCRYPT or KeyProperties.PURPOSE_DECRYPT)
                .setBlockModes(KeyProperties.BLOCK_MODE_GCM)
                .setEncryptionPaddings(KeyProperties.ENCRYPTION_PADDING_NONE)
                .setKeySize(KEY_BITS)
                .build()
        )
        return generator.generateKey()
    }

    private fun keyStore(): KeyStore = KeyStore.getInstance(PROVIDER).apply { load(null) }

    private companion object {
        const val PROVIDER = "AndroidKeyStore"
        const val TRANSFORMATION = "AES/GCM/NoPadding"
        const val KEY_BITS = 256
        const val TAG_BITS = 128
        const val MAX_IV_BYTES = 16
    }
}
