package securepush

import java.security.MessageDigest
import java.security.spec.ECPoint

/** A public key on P-256 as a JSON Web Key (RFC 7518, section 6.2). */
internal class PublicJwk private constructor(
    /** The 65 bytes of the point, not compressed. */
    val point: ByteArray,
    val ecPoint: ECPoint,
    kid: String?
) {
    private val x = Base64Url.encode(point.copyOfRange(1, 1 + P256.NUMBER_BYTES))
    private val y = Base64Url.encode(point.copyOfRange(1 + P256.NUMBER_BYTES, P256.POINT_BYTES))

    val text: String get() = "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"$x\",\"y\":\"$y\"}"

    /** SHA-256 of the required members in order (RFC 7638). */
    private val thumbprint: ByteArray by lazy {
        val members = "{\"crv\":\"P-256\",\"kty\":\"EC\",\"x\":\"$x\",\"y\":\"$y\"}"
        MessageDigest.getInstance("SHA-256").digest(members.toByteArray())
    }

    /** The `kid`, or else the thumbprint. */
    val id: String by lazy { kid ?: Base64Url.encode(thumbprint) }

    /** The first 16 bytes of the thumbprint as 8 groups of 4 hexadecimal digits, for people who compare keys. */
    val fingerprint: String get() = hex(thumbprint.copyOf(16)).chunked(4).joinToString(" ")

    override fun equals(other: Any?): Boolean = other is PublicJwk && other.point.contentEquals(point)

    override fun hashCode(): Int = point.contentHashCode()

    companion object {
        private const val MAX_SET_BYTES = 64 shl 10
        /** The rest is skipped. It is the server's limit too. */
        private const val MAX_KEYS = 32

        const val MAX_NAME_BYTES = 128

        /** Takes a point that is not compressed; `null` if it is not on the curve. */
        fun of(point: ByteArray, kid: String? = null): PublicJwk? = P256.point(point)?.let { PublicJwk(point, it, kid) }

        /** Reads the P-256 keys of a JWK Set (RFC 7517). There is at least one. */
        fun fromJwkSet(jwkSet: ByteArray): List<PublicJwk> {
            if (jwkSet.size > MAX_SET_BYTES) throw MalformedKeySet("The JWK Set is longer than $MAX_SET_BYTES bytes.")
            val keys = try {
                JsonValue.parse(jwkSet, strict = true).members().required("keys").elements(MAX_SET_BYTES)
                    .filter { it.isObject }.mapNotNull { key(it.members()) }
            } catch (e: JsonValue.Malformed) {
                throw MalformedKeySet("The JWK Set is not JSON, or has no list \"keys\".")
            }
            if (keys.isEmpty()) throw MalformedKeySet("The JWK Set has no P-256 key.")
            return keys.take(MAX_KEYS)
        }

        private fun key(members: Map<String, JsonValue>): PublicJwk? {
            // Members that only private and symmetric keys have (RFC 7518, section 6).
            if ("d" in members || "k" in members) throw MalformedKeySet("The JWK Set has a private key.")
            fun text(name: String): String? = members[name]?.textOrNull()
            if (text("kty") != "EC" || text("crv") != "P-256") return null
            val x = text("x")?.let { Base64Url.decode(it) }?.takeIf { it.size == P256.NUMBER_BYTES } ?: return null
            val y = text("y")?.let { Base64Url.decode(it) }?.takeIf { it.size == P256.NUMBER_BYTES } ?: return null
            val kid = text("kid")
            val isNamed = if (kid == null) "kid" !in members else kid.toByteArray().size in 1..MAX_NAME_BYTES
            return if (isNamed) of(byteArrayOf(4) + x + y, kid) else null
        }
    }
}

/** The hexadecimal digits of bytes, in lower case. */
internal fun hex(bytes: ByteArray): String = bytes.joinToString("") { "%02x".format(it) }
