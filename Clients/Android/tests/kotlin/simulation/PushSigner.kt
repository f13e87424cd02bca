package securepush.simulation

import java.math.BigInteger
import java.security.Signature
import securepush.Base64Url
import securepush.P256
import securepush.P256KeyPair
import securepush.PublicJwk
import securepush.PushID
import securepush.PushVerifier

/** A key of the server for pushes, or of a sender. */
class PushSigner {
    private val pair = P256KeyPair.generate()
    internal val key = checkNotNull(PublicJwk.of(pair.publicPoint))

    /** The public half as a JSON Web Key. */
    val jwk: String get() = key.text

    /** Signs a text: r and s in base64url. */
    fun sign(text: String): String {
        val signer = Signature.getInstance("SHA256withECDSA")
        signer.initSign(pair.privateKey)
        signer.update(text.toByteArray())
        return Base64Url.encode(raw(signer.sign()))
    }

    /** A push, signed: the `data` of a message of Firebase. */
    fun data(id: PushID, timestamp: String, withdraw: Boolean): Map<String, String> {
        val signature = sign(PushVerifier.signedText(id, SimulatedServer.USER, timestamp, withdraw))
        val data = mapOf("secureId" to id.rawValue, "ts" to timestamp, "sig" to signature)
        return if (withdraw) data + mapOf("withdraw" to "1") else data
    }

    /** The two numbers of a signature in Java's form: tag, length, then tag, length and number twice. */
    private fun raw(der: ByteArray): ByteArray {
        val middle = 4 + der[3]
        fun number(start: Int) = BigInteger(der.copyOfRange(start + 2, start + 2 + der[start + 1]))
        return P256.fixed(number(2)) + P256.fixed(number(middle))
    }

    companion object {
        /** The JWK Set of keys. */
        fun jwkSet(vararg signers: PushSigner): String = signers.joinToString(",", "{\"keys\":[", "]}") { it.jwk }
    }
}
