package securepush

import java.math.BigInteger
import java.security.AlgorithmParameters
import java.security.KeyFactory
import java.security.KeyPairGenerator
import java.security.PrivateKey
import java.security.PublicKey
import java.security.Signature
import java.security.interfaces.ECPrivateKey
import java.security.interfaces.ECPublicKey
import java.security.spec.ECFieldFp
import java.security.spec.ECGenParameterSpec
import java.security.spec.ECParameterSpec
import java.security.spec.ECPoint
import java.security.spec.ECPrivateKeySpec
import java.security.spec.ECPublicKeySpec
import javax.crypto.KeyAgreement

/**
 * The curve P-256, which Java calls `secp256r1`, by the platform's own libraries. They agree on keys and check
 * signatures; the forms of points and numbers are read here, because providers differ in what they accept.
 */
internal object P256 {
    const val NAME = "secp256r1"
    /** A coordinate, a private key or half a signature, in bytes. */
    const val NUMBER_BYTES = 32
    /** A point that is not compressed (SEC 1, section 2.3.3), in bytes. */
    const val POINT_BYTES = 1 + 2 * NUMBER_BYTES

    val parameters: ECParameterSpec by lazy {
        val algorithm = AlgorithmParameters.getInstance("EC")
        algorithm.init(ECGenParameterSpec(NAME))
        algorithm.getParameterSpec(ECParameterSpec::class.java)
    }

    /** Reads a point that is not compressed; `null` if it is not on the curve. Not every provider checks it. */
    fun point(bytes: ByteArray): ECPoint? {
        if (bytes.size != POINT_BYTES || bytes[0].toInt() != 4) return null
        val x = BigInteger(1, bytes.copyOfRange(1, 1 + NUMBER_BYTES))
        val y = BigInteger(1, bytes.copyOfRange(1 + NUMBER_BYTES, POINT_BYTES))
        val curve = parameters.curve
        val prime = (curve.field as ECFieldFp).p
        if (x >= prime || y >= prime) return null
        val isOnCurve = (x * x * x + curve.a * x + curve.b - y * y).mod(prime).signum() == 0
        return if (isOnCurve) ECPoint(x, y) else null
    }

    /** The bytes of a point, not compressed. */
    fun bytes(point: ECPoint): ByteArray = byteArrayOf(4) + fixed(point.affineX) + fixed(point.affineY)

    /** A number in 32 bytes. */
    fun fixed(number: BigInteger): ByteArray {
        val bytes = number.toByteArray()
        // There may be a zero in front for the sign, and short numbers have fewer bytes.
        val digits = if (bytes.size > NUMBER_BYTES) bytes.copyOfRange(1, bytes.size) else bytes
        return ByteArray(NUMBER_BYTES - digits.size) + digits
    }

    /** A number from 1 to the order of the curve minus 1; `null` for another one. */
    fun scalar(bytes: ByteArray): BigInteger? =
        BigInteger(1, bytes).takeIf { bytes.size == NUMBER_BYTES && it.signum() == 1 && it < parameters.order }

    fun publicKey(point: ECPoint): PublicKey =
        KeyFactory.getInstance("EC").generatePublic(ECPublicKeySpec(point, parameters))

    /**
     * The secret that two keys share: the 32 bytes of the point's x coordinate (RFC 9180, section 4.1; RFC 8291).
     *
     * @param provider the one that has the private key; `null`: any.
     * @throws java.security.GeneralSecurityException if the key cannot be used.
     */
    fun agree(key: PrivateKey, other: ECPoint, provider: String? = null): ByteArray {
        val agreement =
            if (provider == null) KeyAgreement.getInstance("ECDH") else KeyAgreement.getInstance("ECDH", provider)
        agreement.init(key)
        agreement.doPhase(publicKey(other), true)
        return agreement.generateSecret()
    }

    /**
     * Checks a signature: ECDSA with SHA-256.
     *
     * @param signature r and s, 32 bytes each (RFC 7518, section 3.4). Another length, and numbers that are out of
     *   range, are no signature.
     */
    fun verifies(signature: ByteArray, text: ByteArray, key: ECPoint): Boolean {
        if (signature.size != 2 * NUMBER_BYTES) return false
        val r = scalar(signature.copyOf(NUMBER_BYTES)) ?: return false
        val s = scalar(signature.copyOfRange(NUMBER_BYTES, signature.size)) ?: return false
        return try {
            val verifier = Signature.getInstance("SHA256withECDSA")
            verifier.initVerify(publicKey(key))
            verifier.update(text)
            verifier.verify(der(r, s))
        } catch (e: Exception) {
            // Libraries differ in what they throw.
            false
        }
    }

    /** The form that Java wants: `SEQUENCE { INTEGER r, INTEGER s }` (RFC 3279, section 2.2.3). At most 72 bytes. */
    private fun der(r: BigInteger, s: BigInteger): ByteArray {
        val content = integer(r) + integer(s)
        return byteArrayOf(0x30, content.size.toByte()) + content
    }

    /** Java's bytes of a number are those of DER: as few as possible, with the sign in the first bit. */
    private fun integer(number: BigInteger): ByteArray {
        val bytes = number.toByteArray()
        return byteArrayOf(0x02, bytes.size.toByte()) + bytes
    }
}

/** A key pair on P-256 in the memory of the process. */
internal class P256KeyPair private constructor(
    private val scalar: BigInteger,
    /** The 65 bytes of the public point, not compressed. */
    val publicPoint: ByteArray
) {
    /** The private key and the point, for a store: never log them. */
    val encoded: ByteArray get() = P256.fixed(scalar) + publicPoint

    /** For [P256.agree], and for tests that sign. */
    val privateKey: PrivateKey
        get() = KeyFactory.getInstance("EC").generatePrivate(ECPrivateKeySpec(scalar, P256.parameters))

    /** @return `null` if the bytes are no point on the curve. */
    fun agree(point: ByteArray): ByteArray? = P256.point(point)?.let { P256.agree(privateKey, it) }

    override fun toString(): String = "key pair"

    companion object {
        /** The length of [encoded]. */
        const val BYTES = P256.NUMBER_BYTES + P256.POINT_BYTES

        /** Makes a new pair. */
        fun generate(): P256KeyPair {
            val generator = KeyPairGenerator.getInstance("EC")
            generator.initialize(ECGenParameterSpec(P256.NAME))
            val pair = generator.generateKeyPair()
            return P256KeyPair((pair.private as ECPrivateKey).s, P256.bytes((pair.public as ECPublicKey).w))
        }

        /** Takes what [encoded] was; `null` if it is damaged. */
        fun of(bytes: ByteArray): P256KeyPair? {
            if (bytes.size != BYTES) return null
            val scalar = P256.scalar(bytes.copyOf(P256.NUMBER_BYTES)) ?: return null
            val point = bytes.copyOfRange(P256.NUMBER_BYTES, BYTES)
            return if (P256.point(point) == null) null else P256KeyPair(scalar, point)
        }
    }
}
