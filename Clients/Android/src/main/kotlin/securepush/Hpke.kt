package securepush

/**
 * HPKE (RFC 9180) in mode base: DHKEM(P-256, HKDF-SHA256), HKDF-SHA256, AES-128-GCM, one message. Android has HPKE only
 * in its newest versions, and not for this curve.
 */
internal object Hpke {
    /** "HPKE", DHKEM(P-256, HKDF-SHA256), HKDF-SHA256, AES-128-GCM (section 7). */
    private val SUITE = "HPKE".toByteArray() + byteArrayOf(0x00, 0x10, 0x00, 0x01, 0x00, 0x01)
    /** "KEM", DHKEM(P-256, HKDF-SHA256). */
    private val KEM = "KEM".toByteArray() + byteArrayOf(0x00, 0x10)
    private val VERSION = "HPKE-v1".toByteArray()
    private val NONE = ByteArray(0)

    /**
     * Opens the message.
     *
     * @param enc the ephemeral public key: a point, not compressed.
     * @param ct the ciphertext and the tag.
     * @throws java.security.GeneralSecurityException if it was sealed for another key, or was changed.
     * @throws ClientStoreException if the key cannot be used now.
     */
    fun open(enc: ByteArray, ct: ByteArray, key: EnvelopePrivateKey, info: ByteArray, aad: ByteArray): ByteArray {
        val (messageKey, nonce) = keys(key.agree(enc), enc + key.publicBytes, info)
        return AesGcm.open(messageKey, nonce, ct, aad)
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

    /** LabeledExtract (section 4). */
    private fun extract(suite: ByteArray, salt: ByteArray, label: String, material: ByteArray): ByteArray =
        Hkdf.extract(salt, VERSION + suite + label.toByteArray() + material)

    /** LabeledExpand (section 4). */
    private fun expand(suite: ByteArray, key: ByteArray, label: String, info: ByteArray, length: Int): ByteArray =
        Hkdf.expand(key, byteArrayOf(0, length.toByte()) + VERSION + suite + label.toByteArray() + info, length)
}
