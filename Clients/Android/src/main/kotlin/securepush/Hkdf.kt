package securepush

import javax.crypto.Cipher
import javax.crypto.Mac
import javax.crypto.spec.GCMParameterSpec
import javax.crypto.spec.SecretKeySpec

/** HKDF with SHA-256 (RFC 5869), for at most one block of output. */
internal object Hkdf {
    /** HMAC fills a missing salt with zeros, and Java wants a key of one byte at least. */
    fun extract(salt: ByteArray, material: ByteArray): ByteArray =
        hmac(if (salt.isEmpty()) ByteArray(32) else salt, material)

    fun expand(key: ByteArray, info: ByteArray, length: Int): ByteArray =
        hmac(key, info + byteArrayOf(1)).copyOf(length)

    private fun hmac(key: ByteArray, text: ByteArray): ByteArray {
        val mac = Mac.getInstance("HmacSHA256")
        mac.init(SecretKeySpec(key, "HmacSHA256"))
        return mac.doFinal(text)
    }
}

/** AES-GCM with the tag of 16 bytes at the end. */
internal object AesGcm {
    /** @throws java.security.GeneralSecurityException if it was sealed otherwise, or was changed. */
    fun open(key: ByteArray, nonce: ByteArray, ct: ByteArray, aad: ByteArray): ByteArray =
        run(Cipher.DECRYPT_MODE, key, nonce, ct, aad)

    fun seal(key: ByteArray, nonce: ByteArray, text: ByteArray, aad: ByteArray): ByteArray =
        run(Cipher.ENCRYPT_MODE, key, nonce, text, aad)

    private fun run(mode: Int, key: ByteArray, nonce: ByteArray, text: ByteArray, aad: ByteArray): ByteArray {
        val cipher = Cipher.getInstance("AES/GCM/NoPadding")
        cipher.init(mode, SecretKeySpec(key, "AES"), GCMParameterSpec(128, nonce))
        cipher.updateAAD(aad)
        return cipher.doFinal(text)
    }
}
