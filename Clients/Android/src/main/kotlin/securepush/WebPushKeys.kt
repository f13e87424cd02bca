package securepush

import java.math.BigInteger
import java.security.AlgorithmParameters
import java.security.KeyFactory
import java.security.KeyPairGenerator
import java.security.PrivateKey
import java.security.SecureRandom
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
 * The keys of this device for Web Push (RFC 8291): a key pair on P-256 and the authentication secret. The server gets
 * the public point and the secret; the private key never leaves the device.
 */
internal class WebPushKeys private constructor(
    private val scalar: BigInteger,
    /** The 65 bytes of the public point, not compressed (SEC 1, section 2.3.3). */
    val publicPoint: ByteArray,
    /** The 16 bytes of the authentication secret. */
    val authSecret: ByteArray
) {
    /** The public point in base64url, as a registration has it. */
    val p256dh: String get() = Base64Url.encode(publicPoint)

    /** The authentication secret in base64url, as a registration has it. */
    val auth: String get() = Base64Url.encode(authSecret)

    /** The private key, the point and the secret, for the store: never log them. */
    val encoded: ByteArray get() = fixed(scalar) + publicPoint + authSecret

    override fun toString(): String = "keys for Web Push"

    /**
     * The secret that this key shares with another one: the 32 bytes of the point's x coordinate.
     *
     * @return `null` if the bytes are no point on the curve.
     */
    fun agree(point: ByteArray): ByteArray? {
        val other = P256.point(point) ?: return null
        val factory = KeyFactory.getInstance("EC")
        val key: PrivateKey = factory.generatePrivate(ECPrivateKeySpec(scalar, P256.parameters))
        val agreement = KeyAgreement.getInstance("ECDH")
        agreement.init(key)
        agreement.doPhase(factory.generatePublic(ECPublicKeySpec(other, P256.parameters)), true)
        return agreement.generateSecret()
    }

    companion object {
        const val POINT_BYTES = 65
        private const val SCALAR_BYTES = 32
        private const val SECRET_BYTES = 16

        /** Makes new keys. */
        fun generate(): WebPushKeys {
            val generator = KeyPairGenerator.getInstance("EC")
            generator.initialize(ECGenParameterSpec(P256.NAME))
            val pair = generator.generateKeyPair()
            val point = (pair.public as ECPublicKey).w
            val secret = ByteArray(SECRET_BYTES).also { SecureRandom().nextBytes(it) }
            val bytes = byteArrayOf(4) + fixed(point.affineX) + fixed(point.affineY)
            return WebPushKeys((pair.private as ECPrivateKey).s, bytes, secret)
        }

        /** Takes what [encoded] was; `null` if it is damaged. */
        fun of(bytes: ByteArray): WebPushKeys? {
            if (bytes.size != SCALAR_BYTES + POINT_BYTES + SECRET_BYTES) return null
            val scalar = BigInteger(1, bytes.copyOf(SCALAR_BYTES))
            val point = bytes.copyOfRange(SCALAR_BYTES, SCALAR_BYTES + POINT_BYTES)
            if (scalar.signum() == 0 || scalar >= P256.parameters.order || P256.point(point) == null) return null
            return WebPushKeys(scalar, point, bytes.copyOfRange(SCALAR_BYTES + POINT_BYTES, bytes.size))
        }

        /** A number in 32 bytes. */
        private fun fixed(number: BigInteger): ByteArray {
            val bytes = number.toByteArray()
            // There may be a zero in front for the sign, and short numbers have fewer bytes.
            val digits = if (bytes.size > SCALAR_BYTES) bytes.copyOfRange(1, bytes.size) else bytes
            return ByteArray(SCALAR_BYTES - digits.size) + digits
        }
    }
}

/** The curve P-256, which Java calls `secp256r1`. */
internal object P256 {
    const val NAME = "secp256r1"

    val parameters: ECParameterSpec by lazy {
        val algorithm = AlgorithmParameters.getInstance("EC")
        algorithm.init(ECGenParameterSpec(NAME))
        algorithm.getParameterSpec(ECParameterSpec::class.java)
    }

    /** Reads a point that is not compressed; `null` if it is not on the curve. Not every provider checks it. */
    fun point(bytes: ByteArray): ECPoint? {
        if (bytes.size != WebPushKeys.POINT_BYTES || bytes[0].toInt() != 4) return null
        val x = BigInteger(1, bytes.copyOfRange(1, 33))
        val y = BigInteger(1, bytes.copyOfRange(33, 65))
        val curve = parameters.curve
        val prime = (curve.field as ECFieldFp).p
        if (x >= prime || y >= prime) return null
        val isOnCurve = (x * x * x + curve.a * x + curve.b - y * y).mod(prime).signum() == 0
        return if (isOnCurve) ECPoint(x, y) else null
    }
}
