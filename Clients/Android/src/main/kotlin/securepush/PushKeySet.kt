package securepush

/** A JWK Set that cannot be used. */
class MalformedKeySet internal constructor(message: String) : Exception(message)

/**
 * The public keys that verify pushes: the P-256 keys of a JWK Set, as `securepush keys generate --push` writes it and
 * `GET /api/push-keys` returns it.
 */
class PushKeySet private constructor(private val keys: List<PublicJwk>) {
    /** The number of keys. */
    val count: Int get() = keys.size

    override fun equals(other: Any?): Boolean = other is PushKeySet && other.keys == keys

    override fun hashCode(): Int = keys.hashCode()

    override fun toString(): String = "$count keys for pushes"

    /** Whether one of the keys has made a signature. */
    internal fun verifies(signature: ByteArray, text: ByteArray): Boolean =
        keys.any { P256.verifies(signature, text, it.ecPoint) }

    /** The points in base64url, for stores. */
    internal val texts: List<String> get() = keys.map { Base64Url.encode(it.point) }

    companion object {
        /**
         * Reads a JWK Set. Keys of other kinds are skipped.
         *
         * @throws MalformedKeySet if it is longer than 64 KiB, is not JSON, has no P-256 key, or has a private key.
         *   Nobody may publish that, so the set is not trusted.
         */
        @JvmStatic
        @Throws(MalformedKeySet::class)
        fun fromJwkSet(jwkSet: ByteArray) = PushKeySet(PublicJwk.fromJwkSet(jwkSet))

        /** Takes what [texts] was; `null` if it is damaged. */
        internal fun of(texts: List<String>): PushKeySet? {
            val keys = texts.map { text -> Base64Url.decode(text)?.let { PublicJwk.of(it) } ?: return null }
            return if (keys.isEmpty()) null else PushKeySet(keys)
        }
    }
}

/** The public keys of the senders that an app trusts, as a JWK Set. Its `kid`, or else its thumbprint, names a key. */
class SenderKeySet internal constructor(private val keys: List<PublicJwk>) {
    override fun toString(): String = "${keys.size} keys of senders"

    /** Whether the key with this name has made a signature. */
    internal fun verifies(signature: ByteArray, text: ByteArray, from: String): Boolean =
        keys.any { it.id == from && P256.verifies(signature, text, it.ecPoint) }

    companion object {
        /**
         * Reads a JWK Set. Keys of other kinds are skipped.
         *
         * @throws MalformedKeySet as [PushKeySet.fromJwkSet].
         */
        @JvmStatic
        @Throws(MalformedKeySet::class)
        fun fromJwkSet(jwkSet: ByteArray) = SenderKeySet(PublicJwk.fromJwkSet(jwkSet))
    }
}
