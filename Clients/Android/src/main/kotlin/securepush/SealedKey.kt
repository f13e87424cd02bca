package securepush

import javax.crypto.Cipher
import javax.crypto.Mac
import javax.crypto.spec.GCMParameterSpec
import javax.crypto.spec.SecretKeySpec

/**
 * Opens a text that was sealed for one device: HPKE (RFC 9180), mode base, DHKEM(X25519, HKDF-SHA256), HKDF-SHA256,
 * AES-128-GCM, one message. Neither Java nor Bouncy Castle 1.72 has HPKE.
 */
internal object SealedKey {
    /** "HPKE", DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-128-GCM (section 7). */
    private val SUITE = "HPKE".toByteArray() + byteArrayOf(0x00, 0x20, 0x00, 0x01, 0x00, 0x01)
    /** "KEM", DHKEM(X25519, HKDF-SHA256). */
    private val KEM = "KEM".toByteArray() + byteArrayOf(0x00, 0x20)
    private val VERSION = "HPKE-v1".toByteArray()
    private val NONE = ByteArray(0)

    /**
     * Opens the text.
     *
     * @param enc the ephemeral public key.
     * @param ct the ciphertext and the tag.
     * @throws Exception if it was sealed for another key, or was changed.
     */
    fun open(enc: ByteArray, ct: ByteArray, key: EnvelopePrivateKey, info: ByteArray, aad: ByteArray): ByteArray {
        val (contentKey, nonce) = keys(key.agree(enc), enc + key.publicBytes, info)
        return openGcm(contentKey, nonce, ct, aad)
    }

    /**
     * The key and the nonce of the message.
     *
     * @param secret the secret that the ephemeral key and the device's key share.
     * @param publicKeys both public keys.
     */
    fun keys(secret: ByteArray, publicKeys: ByteArray, info: ByteArray): Pair<ByteArray, ByteArray> {
        // Section 4.1: DHKEM.
        val prk = extract(KEM, NONE, "eae_prk", secret)
        val shared = expand(KEM, prk, "shared_secret", publicKeys, 32)
        // Section 5.1: the key schedule.
        val context = byteArrayOf(0) + extract(SUITE, NONE, "psk_id_hash", NONE) +
            extract(SUITE, NONE, "info_hash", info)
        val root = extract(SUITE, shared, "secret", NONE)
        return Pair(expand(SUITE, root, "key", context, 16), expand(SUITE, root, "base_nonce", context, 12))
    }

    /** AES-GCM with the tag at the end. */
    fun openGcm(key: ByteArray, nonce: ByteArray, ct: ByteArray, aad: ByteArray): ByteArray {
        val cipher = Cipher.getInstance("AES/GCM/NoPadding")
        cipher.init(Cipher.DECRYPT_MODE, SecretKeySpec(key, "AES"), GCMParameterSpec(128, nonce))
        cipher.updateAAD(aad)
        return cipher.doFinal(ct)
    }

    /** LabeledExtract (section 4). HMAC fills a missing salt with zeros, and Java wants a key of one byte at least. */
    private fun extract(suite: ByteArray, salt: ByteArray, label: String, material: ByteArray): ByteArray =
        hmac(if (salt.isEmpty()) ByteArray(32) else salt, VERSION + suite + label.toByteArray() + material)

    /** LabeledExpand (section 4), for at most one block. */
    private fun expand(suite: ByteArray, key: ByteArray, label: String, info: ByteArray, length: Int): ByteArray {
        val text = byteArrayOf(0, length.toByte()) + VERSION + suite + label.toByteArray() + info
        return hmac(key, text + byteArrayOf(1)).copyOf(length)
    }

    /** HMAC-SHA-256. */
    fun hmac(key: ByteArray, text: ByteArray): ByteArray {
        val mac = Mac.getInstance("HmacSHA256")
        mac.init(SecretKeySpec(key, "HmacSHA256"))
        return mac.doFinal(text)
    }
}
