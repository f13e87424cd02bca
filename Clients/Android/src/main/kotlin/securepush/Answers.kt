package securepush

import java.time.DateTimeException
import java.time.Instant

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
         * @throws SecurePushFailure
         */
        fun read(body: ByteArray, id: PushID): SecretAnswer {
            val answer = readAnswer(body) { members ->
                SecretAnswer(readSecret(members) ?: throw JsonValue.Malformed(), members["Unread"]?.count())
            }
            if (answer.secret.id != id) throw SecurePushFailure(DiagnosticCode.WRONG_ID)
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
         * @throws SecurePushFailure
         */
        fun read(body: ByteArray): InboxAnswer = readAnswer(body) { members ->
            val entries = members.required("Notifications").elements(MAX_ENTRIES).map { element ->
                val entry = element.members()
                Entry(readId(entry), readSecret(entry), time(entry["CreatedAt"]), entry.flag("Read"))
            }
            InboxAnswer(entries, members.required("Unread").count(), "Next" in members)
        }
    }
}

/** @throws SecurePushFailure if the answer is malformed. */
internal fun <R> readAnswer(body: ByteArray, read: (Map<String, JsonValue>) -> R): R = try {
    read(JsonValue.parse(body).members())
} catch (e: JsonValue.Malformed) {
    throw SecurePushFailure(DiagnosticCode.MALFORMED_ANSWER)
}

private fun readId(members: Map<String, JsonValue>): PushID =
    PushID.of(members["Id"]?.text()) ?: throw JsonValue.Malformed()

/** A time of the server (RFC 3339); `null` if it is something else. */
internal fun time(value: JsonValue?): Instant? = try {
    value?.textOrNull()?.let { Instant.parse(it) }
} catch (e: DateTimeException) {
    null
}

/** `null` if the members have no payload. */
private fun readSecret(members: Map<String, JsonValue>): SecretNotification? {
    val payload = members["Payload"] ?: return null
    return SecretNotification(
        readId(members), payload.json(), members.flag("Read"),
        members["Display"]?.let { Display.of(it.text()) } ?: Display.FULL, time(members["ExpiresAt"])
    )
}
