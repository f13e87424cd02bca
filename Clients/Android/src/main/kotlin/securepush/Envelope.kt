package securepush

import java.nio.ByteBuffer
import java.nio.charset.CharacterCodingException
import java.nio.charset.CodingErrorAction

/**
 * A payload that only the recipient's devices can read: the server stores it and does not interpret it.
 *
 * The content is encrypted once, by AES-256-GCM with a random key. That key is sealed for every device by HPKE. The
 * recipient's name is authenticated both times. `Clients/vectors/README.md` describes every byte.
 */
internal object Envelope {
    /** A payload that this device cannot read. */
    class Unopened(val code: DiagnosticCode) : Exception(code.rawValue)

    /**
     * Opens a secret. One that is not encrypted stays as it is.
     *
     * @param recipient the user of this device.
     * @param device the installation's ID; `null` if it has none.
     * @param key the device's key; `null` if it has none.
     * @throws Unopened with `SP-KEY` or `SP-DECRYPT`.
     * @throws ClientStoreException if the key cannot be used now.
     */
    fun open(
        secret: SecretNotification, recipient: String, device: String?, key: EnvelopePrivateKey?
    ): SecretNotification {
        val payload = secret.json.toByteArray()
        if (!isEnvelope(payload)) return secret
        val content = content(payload, recipient, device, key)
        try {
            val json = Charsets.UTF_8.newDecoder().onMalformedInput(CodingErrorAction.REPORT)
                .decode(ByteBuffer.wrap(content)).toString()
            return JsonReader.read(content) { reader, span ->
                val text = if (reader.isString(span)) reader.string(span) else json
                SecretNotification(secret.id, text, json, secret.wasRead)
            }
        } catch (e: JsonReader.Malformed) {
            throw Unopened(DiagnosticCode.UNOPENABLE)
        } catch (e: CharacterCodingException) {
            throw Unopened(DiagnosticCode.UNOPENABLE)
        }
    }

    /** Whether a payload is meant to be an envelope: an object with `e2e` and `ct`. It may still be malformed. */
    fun isEnvelope(payload: ByteArray): Boolean = try {
        JsonReader.read(payload) { reader, span ->
            reader.isObject(span) && reader.names(span).containsAll(listOf("e2e", "ct"))
        }
    } catch (e: JsonReader.Malformed) {
        false
    }

    private class Sealed(val enc: String, val ct: String)

    private class Document(val keys: Map<String, Sealed>, val iv: ByteArray, val ct: ByteArray)

    private fun content(payload: ByteArray, recipient: String, device: String?, key: EnvelopePrivateKey?): ByteArray {
        val document = document(payload) ?: throw Unopened(DiagnosticCode.UNOPENABLE)
        val sealed = document.keys[device]
        if (sealed == null || key == null) throw Unopened(DiagnosticCode.NO_KEY)
        val enc = Base64Url.decode(sealed.enc)?.takeIf { it.size == ENC_BYTES }
        val ct = Base64Url.decode(sealed.ct)?.takeIf { it.size == SEALED_BYTES }
        if (enc == null || ct == null) throw Unopened(DiagnosticCode.UNOPENABLE)
        val aad = recipient.toByteArray()
        try {
            val contentKey = SealedKey.open(enc, ct, key, INFO, aad)
            return SealedKey.openGcm(contentKey, document.iv, document.ct, aad)
        } catch (e: ClientStoreException) {
            // The key cannot be used now.
            throw e
        } catch (e: Exception) {
            // Libraries differ in what they throw.
            throw Unopened(DiagnosticCode.UNOPENABLE)
        }
    }

    private fun document(payload: ByteArray): Document? = try {
        JsonReader.read(payload) { reader, span -> document(reader, reader.members(span)) }
    } catch (e: JsonReader.Malformed) {
        null
    }

    private fun document(reader: JsonReader, members: Map<String, Span>): Document? {
        fun member(name: String): Span = members[name] ?: throw JsonReader.Malformed()
        if (reader.json(member("e2e")).toDoubleOrNull() != 1.0) return null
        val keys = reader.members(member("keys")).mapValues { (_, span) ->
            val parts = reader.members(span)
            Sealed(
                reader.string(parts["enc"] ?: throw JsonReader.Malformed()),
                reader.string(parts["ct"] ?: throw JsonReader.Malformed())
            )
        }
        val iv = Base64Url.decode(reader.string(member("iv")))
        val ct = Base64Url.decode(reader.string(member("ct")), MAX_CONTENT_TEXT)
        if (keys.size > MAX_DEVICES || iv?.size != IV_BYTES || ct == null || ct.size < TAG_BYTES) return null
        return Document(keys, iv, ct)
    }

    private val INFO = "securepush-e2e-v1".toByteArray()
    private const val ENC_BYTES = 32
    private const val SEALED_BYTES = 48
    private const val IV_BYTES = 12
    private const val TAG_BYTES = 16
    private const val MAX_DEVICES = 1_000
    /** The longest answer of the server. */
    private const val MAX_CONTENT_TEXT = 2 shl 20
}
