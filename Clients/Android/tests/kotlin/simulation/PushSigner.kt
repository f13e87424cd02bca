package securepush.simulation

import java.security.SecureRandom
import org.bouncycastle.crypto.params.Ed25519PrivateKeyParameters
import org.bouncycastle.crypto.signers.Ed25519Signer
import securepush.Base64Url
import securepush.PushID
import securepush.PushVerifier

/** A key of the server for pushes. */
class PushSigner {
    private val key = Ed25519PrivateKeyParameters(SecureRandom())

    /** The public half as a JSON Web Key. */
    val jwk = "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"${Base64Url.encode(key.generatePublicKey().encoded)}\"}"

    /** A push, signed: the `data` of a message of Firebase. */
    fun data(id: PushID, timestamp: String, withdraw: Boolean): Map<String, String> {
        val text = PushVerifier.signedText(id, SimulatedServer.USER, timestamp, withdraw).toByteArray()
        val signer = Ed25519Signer()
        signer.init(true, key)
        signer.update(text, 0, text.size)
        val signature = Base64Url.encode(signer.generateSignature())
        val data = mapOf("secureId" to id.rawValue, "ts" to timestamp, "sig" to signature)
        return if (withdraw) data + mapOf("withdraw" to "1") else data
    }

    companion object {
        /** The JWK Set of keys. */
        fun jwkSet(vararg signers: PushSigner): String = signers.joinToString(",", "{\"keys\":[", "]}") { it.jwk }
    }
}
