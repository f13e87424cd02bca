package securepush

import java.security.MessageDigest
import java.util.UUID

/**
 * A payload that only the recipient's devices can read: the server stores it and does not interpret it.
 *
 * The content is encrypted once, by AES-256-GCM with a random key. That key is sealed for every device by HPKE, bound
 * to this content and to the recipient's name. `docs/reference/e2e-envelope.md` describes every byte.
 */
internal class Envelope private constructor(
    private val keys: Map<String, Sealed>,
    private val iv: ByteArray,
    private val ct: ByteArray,
    private val from: String?,
    private val signature: ByteArray?
) {
    /** A payload that this device does not show. */
    class Unopened(val code: DiagnosticCode) : Exception(code.rawValue)

    private class Sealed(val enc: ByteArray, val ct: ByteArray)

    /** What was encrypted. All times are in seconds since 1970. */
    class Content(
        /** The sender's ID of this envelope. */
        val id: UUID,
        /** When it was made. */
        val at: Long,
        /** When it expires; `null`: never. */
        val exp: Long?,
        /** The payload's JSON text. */
        val json: String,
        /** The payload, if it is a JSON string, or else its JSON text. */
        val text: String
    ) {
        /** Whether it was made more than a day ahead or more than 90 days ago, when nobody remembers its ID. */
        fun isOutOfTime(date: Long): Boolean = date - at * 1_000 !in -MILLIS_AHEAD..MILLIS_BACK

        fun hasExpired(date: Long): Boolean = exp != null && exp * 1_000 <= date
    }

    private val digest: ByteArray by lazy { MessageDigest.getInstance("SHA-256").digest(iv + ct) }

    /** Whether a sender has signed it for this recipient. */
    fun isSigned(by: SenderKeySet, recipient: String): Boolean {
        if (from == null || signature == null) return false
        return by.verifies(signature, "$VERSION\n$recipient\n${hex(digest)}\n".toByteArray(), from)
    }

    /**
     * Decrypts the content.
     *
     * @param recipient the user of this device.
     * @param device the installation's ID; `null` if it has none.
     * @param privateKeys the device's keys, newest first.
     * @throws Unopened with `SP-KEY` or `SP-DECRYPT`.
     * @throws ClientStoreException if a key cannot be used now, and the others do not open it.
     */
    fun open(recipient: String, device: String?, privateKeys: List<EnvelopePrivateKey>): Content {
        val sealed = keys[device]
        if (sealed == null || privateKeys.isEmpty()) throw Unopened(DiagnosticCode.NO_KEY)
        val name = recipient.toByteArray()
        val aad = name + byteArrayOf(0) + digest
        var problem: ClientStoreException? = null
        for (key in privateKeys) {
            val text = try {
                val contentKey = Hpke.open(sealed.enc, sealed.ct, key, VERSION.toByteArray(), aad)
                AesGcm.open(contentKey, iv, ct, name)
            } catch (e: ClientStoreException) {
                problem = e
                null
            } catch (e: Exception) {
                // It may be for a former key. Libraries differ in what they throw.
                null
            }
            if (text != null) return content(text)
        }
        throw problem ?: Unopened(DiagnosticCode.UNOPENABLE)
    }

    companion object {
        /** Whether a payload is meant to be an envelope: an object with `e2e`. It may still be malformed. */
        fun isEnvelope(payload: ByteArray): Boolean = try {
            JsonReader.read(payload) { reader, span -> reader.isObject(span) && "e2e" in reader.names(span) }
        } catch (e: JsonReader.Malformed) {
            false
        }

        /**
         * Reads an envelope.
         *
         * @throws Unopened with `SP-DECRYPT` if it is malformed.
         */
        fun parse(payload: ByteArray): Envelope = try {
            JsonReader.read(payload, strict = true) { reader, span -> envelope(reader, reader.members(span)) }
        } catch (e: JsonReader.Malformed) {
            throw Unopened(DiagnosticCode.UNOPENABLE)
        }

        private fun envelope(reader: JsonReader, members: Map<String, Span>): Envelope {
            if (reader.json(member("e2e", members)) != "2") throw JsonReader.Malformed()
            val keys = reader.members(member("keys", members)).mapValues { (device, span) ->
                val parts = reader.members(span)
                val enc = bytes("enc", parts, reader)
                val ct = bytes("ct", parts, reader)
                if (!isInstallation(device) || P256.point(enc) == null || ct.size != SEALED_BYTES) {
                    throw JsonReader.Malformed()
                }
                Sealed(enc, ct)
            }
            val (iv, ct) = Pair(bytes("iv", members, reader), bytes("ct", members, reader, MAX_CONTENT_TEXT))
            if (keys.size !in 1..MAX_DEVICES || iv.size != IV_BYTES || ct.size < TAG_BYTES) throw JsonReader.Malformed()
            if (("from" in members) != ("sig" in members)) throw JsonReader.Malformed()
            if ("from" !in members) return Envelope(keys, iv, ct, null, null)
            val from = reader.string(member("from", members))
            val signature = bytes("sig", members, reader)
            if (from.toByteArray().size !in 1..MAX_NAME_BYTES || signature.size != SIGNATURE_BYTES) {
                throw JsonReader.Malformed()
            }
            return Envelope(keys, iv, ct, from, signature)
        }

        private fun member(name: String, members: Map<String, Span>): Span =
            members[name] ?: throw JsonReader.Malformed()

        private fun bytes(name: String, members: Map<String, Span>, reader: JsonReader, max: Int = 1_024): ByteArray =
            Base64Url.decode(reader.string(member(name, members)), max) ?: throw JsonReader.Malformed()

        /** Reads the content. The blanks after it, which hide its length, are JSON's own. */
        private fun content(bytes: ByteArray): Content = try {
            JsonReader.read(bytes, strict = true) { reader, span ->
                val members = reader.members(span)
                val value = member("content", members)
                val json = reader.json(value)
                Content(
                    uuid(reader.string(member("id", members))), reader.digits(member("at", members)),
                    members["exp"]?.let { reader.digits(it) }, json,
                    if (reader.isString(value)) reader.string(value) else json
                )
            }
        } catch (e: JsonReader.Malformed) {
            throw Unopened(DiagnosticCode.UNOPENABLE)
        }

        /** Java takes shorter groups, too. */
        private fun uuid(text: String): UUID =
            if (UUID_FORM.matches(text)) UUID.fromString(text) else throw JsonReader.Malformed()

        private const val VERSION = "securepush-e2e-v2"
        private val UUID_FORM = Regex("[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
        private const val SEALED_BYTES = 48
        private const val IV_BYTES = 12
        private const val TAG_BYTES = 16
        private const val SIGNATURE_BYTES = 64
        private const val MAX_NAME_BYTES = 128
        private const val MAX_DEVICES = 100
        /** The longest answer of the server. */
        private const val MAX_CONTENT_TEXT = 2 shl 20
        private const val MILLIS_AHEAD = 86_400_000L
        private const val MILLIS_BACK = 90 * 86_400_000L
    }
}

/**
 * Opens a secret. One that is not encrypted stays as it is, unless the app refuses it.
 *
 * An envelope is remembered before anybody sees its content, and opens under one notification's ID only: the server,
 * which chooses these IDs, cannot show it twice.
 *
 * @throws Envelope.Unopened if this device will not show it.
 * @throws ClientStoreException if a key cannot be used now, or nothing can be remembered.
 */
internal fun SecurePushClient.open(secret: SecretNotification): SecretNotification {
    val payload = secret.json.toByteArray()
    if (!Envelope.isEnvelope(payload)) {
        if (configuration.requiresEncryption) throw Envelope.Unopened(DiagnosticCode.NOT_ENCRYPTED)
        return secret
    }
    val envelope = Envelope.parse(payload)
    val state = keeper.read()
    val recipient = state.owner ?: ""
    val senders = configuration.senderKeys
    if (senders != null && !envelope.isSigned(senders, recipient)) {
        throw Envelope.Unopened(DiagnosticCode.UNKNOWN_SENDER)
    }
    val content = envelope.open(recipient, state.registration.installationID, store.envelopeKeys())
    val date = clock.date
    if (content.isOutOfTime(date) || !store.rememberEnvelope(content.id, secret.id, date)) {
        throw Envelope.Unopened(DiagnosticCode.REPLAYED)
    }
    if (content.hasExpired(date)) throw Envelope.Unopened(DiagnosticCode.EXPIRED)
    return SecretNotification(secret.id, content.text, content.json, secret.wasRead)
}
