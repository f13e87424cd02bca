package securepush.simulation

import java.security.SecureRandom
import javax.crypto.Cipher
import javax.crypto.spec.GCMParameterSpec
import javax.crypto.spec.SecretKeySpec
import org.json.JSONObject
import securepush.Base64Url
import securepush.SealedKey
import securepush.SoftwareEnvelopeKey

/** Encrypts a payload for one device, as the senders' library does it (`Clients/vectors/README.md`). */
object EnvelopeSealer {
    /**
     * The envelope.
     *
     * @param content the JSON text of the payload.
     * @param jwk the device's public key, as it was registered.
     */
    fun seal(content: String, recipient: String, device: String, jwk: JSONObject): JSONObject {
        val aad = recipient.toByteArray()
        val publicBytes = checkNotNull(Base64Url.decode(jwk.getString("x")))
        val ephemeral = SoftwareEnvelopeKey.generate()
        val (key, nonce) = SealedKey.keys(
            ephemeral.agree(publicBytes), ephemeral.publicBytes + publicBytes, "securepush-e2e-v1".toByteArray()
        )
        val contentKey = random(32)
        val iv = random(12)
        val sealed = JSONObject().put("enc", Base64Url.encode(ephemeral.publicBytes))
            .put("ct", Base64Url.encode(encrypt(key, nonce, contentKey, aad)))
        return JSONObject().put("e2e", 1).put("keys", JSONObject().put(device, sealed)).put("iv", Base64Url.encode(iv))
            .put("ct", Base64Url.encode(encrypt(contentKey, iv, content.toByteArray(), aad)))
    }

    private fun encrypt(key: ByteArray, nonce: ByteArray, text: ByteArray, aad: ByteArray): ByteArray {
        val cipher = Cipher.getInstance("AES/GCM/NoPadding")
        cipher.init(Cipher.ENCRYPT_MODE, SecretKeySpec(key, "AES"), GCMParameterSpec(128, nonce))
        cipher.updateAAD(aad)
        return cipher.doFinal(text)
    }

    private fun random(count: Int) = ByteArray(count).also { SecureRandom().nextBytes(it) }
}
