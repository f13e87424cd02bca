package securepush

import java.security.MessageDigest
import java.time.Instant
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
        val json: String
    ) {
        /** Whether it was made at most a day ahead and at most 90 days ago. Nobody remembers the IDs of older ones. */
        fun isTimely(now: Long): Boolean = now - at in -SECONDS_AHEAD..SECONDS_BACK
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
     * @throws SecurePushFailure with `SP-KEY` or `SP-DECRYPT`.
     * @throws ClientStoreException if a key cannot be used now, and the others do not open it.
     */
    fun open(recipient: String, device: String?, privateKeys: List<EnvelopePrivateKey>): Content {
        val sealed = keys[device]
        if (sealed == null || privateKeys.isEmpty()) throw SecurePushFailure(DiagnosticCode.NO_KEY)
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
        throw problem ?: SecurePushFailure(DiagnosticCode.UNOPENABLE)
    }

    companion object {
        /**
         * Reads a payload. It is an envelope if it is an object with `e2e`, whatever else it has.
         *
         * @return `null` if it is none.
         * @throws SecurePushFailure with `SP-DECRYPT` if it is malformed, or no strict JSON.
         */
        fun parse(payload: ByteArray): Envelope? = try {
            val json = JsonValue.parse(payload, strict = true)
            val members = if (json.isObject) json.members() else emptyMap()
            if ("e2e" in members) envelope(members) else null
        } catch (e: JsonValue.Malformed) {
            throw SecurePushFailure(DiagnosticCode.UNOPENABLE)
        }

        private fun envelope(members: Map<String, JsonValue>): Envelope {
            if (members.required("e2e").json() != "2") throw JsonValue.Malformed()
            val keys = members.required("keys").members().mapValues { (device, entry) ->
                val parts = entry.members()
                val (enc, ct) = Pair(parts.bytes("enc"), parts.bytes("ct"))
                val isPoint = enc.size == P256.POINT_BYTES && enc[0].toInt() == 4
                if (!isInstallation(device) || !isPoint || ct.size != SEALED_BYTES) throw JsonValue.Malformed()
                Sealed(enc, ct)
            }
            val (iv, ct) = Pair(members.bytes("iv"), members.bytes("ct", MAX_CONTENT_TEXT))
            if (keys.size !in 1..MAX_DEVICES || iv.size != IV_BYTES || ct.size < TAG_BYTES) throw JsonValue.Malformed()
            if ("from" !in members && "sig" !in members) return Envelope(keys, iv, ct, null, null)
            val (from, signature) = Pair(members.required("from").text(), members.bytes("sig"))
            if (from.toByteArray().size !in 1..PublicJwk.MAX_NAME_BYTES || signature.size != SIGNATURE_BYTES) {
                throw JsonValue.Malformed()
            }
            return Envelope(keys, iv, ct, from, signature)
        }

        private fun Map<String, JsonValue>.bytes(name: String, max: Int = 1_024): ByteArray =
            Base64Url.decode(required(name).text(), max) ?: throw JsonValue.Malformed()

        /** Reads the content. The blanks after it, which hide its length, are JSON's own. */
        private fun content(bytes: ByteArray): Content = try {
            val members = JsonValue.parse(bytes, strict = true).members()
            Content(
                uuid(members.required("id").text()), members.required("at").digits(), members["exp"]?.digits(),
                members.required("content").json()
            )
        } catch (e: JsonValue.Malformed) {
            throw SecurePushFailure(DiagnosticCode.UNOPENABLE)
        }

        /** Java takes shorter groups, too. */
        private fun uuid(text: String): UUID =
            if (UUID_FORM.matches(text)) UUID.fromString(text) else throw JsonValue.Malformed()

        private const val VERSION = "securepush-e2e-v2"
        private val UUID_FORM = Regex("[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
        private const val SEALED_BYTES = 48
        private const val IV_BYTES = 12
        private const val TAG_BYTES = 16
        private const val SIGNATURE_BYTES = 64
        private const val MAX_DEVICES = 100
        /** The longest answer of the server. */
        private const val MAX_CONTENT_TEXT = 2 shl 20
        private const val SECONDS_AHEAD = 86_400L
        private const val SECONDS_BACK = 90 * 86_400L
    }
}

/**
 * Opens a secret. One that is not encrypted stays as it is, unless the app refuses it.
 *
 * An envelope is remembered before anybody sees its content, and opens under one notification's ID only: the server,
 * which chooses these IDs, cannot show it twice.
 *
 * @throws SecurePushFailure if this device will not show it.
 * @throws ClientStoreException if a key cannot be used now, or nothing can be remembered.
 */
internal fun SecurePushClient.open(secret: SecretNotification): SecretNotification {
    val envelope = Envelope.parse(secret.json.toByteArray())
    val opened = if (envelope != null) open(envelope, secret) else secret
    if (envelope == null && configuration.requiresEncryption) throw SecurePushFailure(DiagnosticCode.NOT_ENCRYPTED)
    val end = opened.expiresAt?.toEpochMilli()
    if (end != null && end <= clock.date) throw SecurePushFailure(DiagnosticCode.EXPIRED)
    return if (opened.display >= configuration.display) opened else
        opened.with(opened.json, configuration.display, opened.expiresAt)
}

private fun SecurePushClient.open(envelope: Envelope, secret: SecretNotification): SecretNotification {
    val state = keeper.read()
    val recipient = state.owner ?: ""
    val senders = configuration.senderKeys
    if (senders != null && !envelope.isSigned(senders, recipient)) {
        throw SecurePushFailure(DiagnosticCode.UNKNOWN_SENDER)
    }
    val content = envelope.open(recipient, state.registration.installationID, store.envelopeKeys())
    val now = Math.floorDiv(clock.date, 1_000L)
    if (!content.isTimely(now) || !store.rememberEnvelope(content.id, secret.id, clock.date)) {
        throw SecurePushFailure(DiagnosticCode.REPLAYED)
    }
    val expiresAt = listOfNotNull(secret.expiresAt, content.exp?.let { Instant.ofEpochSecond(it) })
        .sorted().firstOrNull()
    return secret.with(content.json, secret.display, expiresAt)
}
