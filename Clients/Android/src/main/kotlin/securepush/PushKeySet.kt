package securepush

/**
 * The public keys that verify pushes: the Ed25519 keys of a JWK Set (RFC 7517, RFC 8037), as
 * `securepush keys generate --push` writes it and `GET /api/push-keys` returns it.
 */
class PushKeySet internal constructor(keys: List<ByteArray>) {
    private val bytes = keys.map { it.copyOf() }

    /** The keys, 32 bytes each. */
    val keys: List<ByteArray> get() = bytes.map { it.copyOf() }

    /** A JWK Set that cannot be used. */
    class Malformed internal constructor(message: String) : Exception(message)

    override fun equals(other: Any?): Boolean = other is PushKeySet && other.texts == texts

    override fun hashCode(): Int = texts.hashCode()

    override fun toString(): String = "${bytes.size} keys for pushes"

    /** The keys in base64url. */
    internal val texts: List<String> get() = bytes.map { Base64Url.encode(it) }

    companion object {
        /** The longest JWK Set, in bytes. */
        const val MAX_BYTES = 64 shl 10
        /** The maximum number of keys; the rest is skipped. It is the server's limit too. */
        const val MAX_KEYS = 32

        /**
         * Reads a JWK Set. Keys of other kinds are skipped.
         *
         * @throws Malformed if it is longer than [MAX_BYTES], is not JSON, has no Ed25519 key, or has a private key.
         *   Nobody may publish that, so the set is not trusted.
         */
        @JvmStatic
        @Throws(Malformed::class)
        fun fromJwkSet(jwkSet: ByteArray): PushKeySet {
            if (jwkSet.size > MAX_BYTES) throw Malformed("The JWK Set is longer than $MAX_BYTES bytes.")
            val keys = try {
                JsonReader.read(jwkSet) { reader, span ->
                    val list = reader.members(span)["keys"] ?: throw JsonReader.Malformed()
                    reader.elements(list, MAX_READ).map { reader.members(it) }.mapNotNull { key(it, reader) }
                }
            } catch (e: JsonReader.Malformed) {
                throw Malformed("The JWK Set is not JSON, or has no list \"keys\".")
            }
            if (keys.isEmpty()) throw Malformed("The JWK Set has no Ed25519 key.")
            return PushKeySet(keys.take(MAX_KEYS))
        }

        private fun key(members: Map<String, Span>, reader: JsonReader): ByteArray? {
            // Members that only private and symmetric keys have (RFC 7518, section 6).
            if ("d" in members || "k" in members) throw Malformed("The JWK Set has a private key.")
            fun text(name: String): String? = members[name]?.takeIf { reader.isString(it) }?.let { reader.string(it) }
            if (text("kty") != "OKP" || text("crv") != "Ed25519") return null
            return text("x")?.let { Base64Url.decode(it) }?.takeIf { it.size == KEY_BYTES }
        }

        private const val KEY_BYTES = 32
        private const val MAX_READ = 1_024
    }
}
