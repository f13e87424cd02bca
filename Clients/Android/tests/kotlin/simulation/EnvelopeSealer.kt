package securepush.simulation

import java.security.MessageDigest
import java.security.SecureRandom
import java.util.UUID
import org.json.JSONObject
import securepush.AesGcm
import securepush.Base64Url
import securepush.Hpke
import securepush.P256KeyPair
import securepush.hex

/** Encrypts payloads for one device, as the senders' library does it (`docs/reference/e2e-envelope.md`). */
class EnvelopeSealer(val recipient: String, private val device: String, jwk: JSONObject) {
    private val receiver = byteArrayOf(4) + bytes(jwk, "x") + bytes(jwk, "y")
    /** The ID of the next envelope. */
    var id: UUID = UUID.randomUUID()

    private fun bytes(json: JSONObject, name: String) = checkNotNull(Base64Url.decode(json.getString(name)))

    /**
     * The envelope.
     *
     * @param content the JSON text of the payload.
     * @param at when it was made, in milliseconds since 1970.
     * @param exp when it expires, in seconds since 1970.
     * @param signer signs it; `null`: nobody does.
     */
    fun seal(content: String, at: Long, exp: Long? = null, signer: PushSigner? = null): JSONObject {
        val expiry = if (exp == null) "" else "\"exp\":$exp,"
        val text = "{\"id\":\"$id\",\"at\":${at / 1_000},$expiry\"content\":$content}"
        id = UUID.randomUUID()
        return sealText(text.padEnd(128), signer)
    }

    /** An envelope around any text. */
    fun sealText(text: String, signer: PushSigner? = null): JSONObject {
        val (contentKey, iv) = Pair(random(32), random(12))
        val ct = AesGcm.seal(contentKey, iv, text.toByteArray(), recipient.toByteArray())
        val digest = MessageDigest.getInstance("SHA-256").digest(iv + ct)
        val ephemeral = P256KeyPair.generate()
        val (key, nonce) = Hpke.keys(
            checkNotNull(ephemeral.agree(receiver)), ephemeral.publicPoint + receiver, VERSION.toByteArray()
        )
        val sealed = AesGcm.seal(key, nonce, contentKey, recipient.toByteArray() + byteArrayOf(0) + digest)
        val entry = JSONObject().put("enc", Base64Url.encode(ephemeral.publicPoint)).put("ct", Base64Url.encode(sealed))
        val envelope = JSONObject().put("e2e", 2).put("keys", JSONObject().put(device, entry))
            .put("iv", Base64Url.encode(iv)).put("ct", Base64Url.encode(ct))
        if (signer == null) return envelope
        val signature = signer.sign("$VERSION\n$recipient\n${hex(digest)}\n")
        return envelope.put("from", signer.key.id).put("sig", signature)
    }

    private fun random(count: Int) = ByteArray(count).also { SecureRandom().nextBytes(it) }

    private companion object {
        const val VERSION = "securepush-e2e-v2"
    }
}
