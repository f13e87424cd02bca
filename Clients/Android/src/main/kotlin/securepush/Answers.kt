package securepush

import java.time.Instant

/** An answer that cannot be used. */
internal class AnswerFault(val code: DiagnosticCode) : Exception(code.rawValue)

/** The answer to `GET /api/notifications/{id}`. */
internal class SecretAnswer(
    val secret: SecretNotification,
    /** How many notifications the user has not read; `null` if the server did not say. */
    val unread: Int?
) {
    companion object {
        /**
         * Reads the answer.
         *
         * @param id the ID that was asked for.
         * @throws AnswerFault
         */
        fun read(body: ByteArray, id: PushID): SecretAnswer {
            val answer = readAnswer(body) { reader, span ->
                val members = reader.members(span)
                val secret = readSecret(members, reader) ?: throw JsonReader.Malformed()
                SecretAnswer(secret, members["Unread"]?.let { reader.count(it) })
            }
            if (answer.secret.id != id) throw AnswerFault(DiagnosticCode.WRONG_ID)
            return answer
        }
    }
}

/** A page of `GET /api/notifications`. */
internal class InboxAnswer(
    val entries: List<Entry>,
    val unread: Int,
    /** Whether there is another page. */
    val hasNext: Boolean
) {
    /** An entry; with the secret, if the server sent payloads. */
    class Entry(val id: PushID, val secret: SecretNotification?, val createdAt: Instant?, val isRead: Boolean)

    companion object {
        /** The most that the server sends on a page. */
        const val MAX_ENTRIES = 200

        /**
         * Reads the answer.
         *
         * @throws AnswerFault
         */
        fun read(body: ByteArray): InboxAnswer = readAnswer(body) { reader, span ->
            val members = reader.members(span)
            val list = members["Notifications"] ?: throw JsonReader.Malformed()
            val unread = members["Unread"] ?: throw JsonReader.Malformed()
            val entries = reader.elements(list, MAX_ENTRIES).map { element ->
                val entry = reader.members(element)
                Entry(
                    readId(entry, reader), readSecret(entry, reader),
                    time(entry["CreatedAt"]?.takeIf { reader.isString(it) }?.let { reader.string(it) }),
                    entry["Read"]?.let { reader.boolean(it) } ?: false
                )
            }
            InboxAnswer(entries, reader.count(unread), members.containsKey("Next"))
        }
    }
}

internal fun <R> readAnswer(body: ByteArray, read: (JsonReader, Span) -> R): R = try {
    JsonReader.read(body, false, read)
} catch (e: JsonReader.Malformed) {
    throw AnswerFault(DiagnosticCode.MALFORMED_ANSWER)
}

private fun readId(members: Map<String, Span>, reader: JsonReader): PushID =
    members["Id"]?.let { PushID.of(reader.string(it)) } ?: throw JsonReader.Malformed()

/** `null` if the members have no payload. */
private fun readSecret(members: Map<String, Span>, reader: JsonReader): SecretNotification? {
    val payload = members["Payload"] ?: return null
    return SecretNotification(
        readId(members, reader), reader.json(payload), members["Read"]?.let { reader.boolean(it) } ?: false,
        members["Display"]?.let { Display.of(reader.string(it)) } ?: Display.FULL,
        time(members["ExpiresAt"]?.takeIf { reader.isString(it) }?.let { reader.string(it) })
    )
}
