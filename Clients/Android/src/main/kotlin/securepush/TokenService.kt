package securepush

import java.net.URI
import org.json.JSONObject

/** `POST /api/token` and `DELETE /api/token` of the retrieval service. */
internal class TokenService(
    retrievalUrl: URI, private val transport: Transport, private val clock: ClientClock, threads: ClientThreads
) {
    private val url = URI(retrievalUrl.toString().trimEnd('/') + "/api/token")
    private val timeLimit = TimeLimit(clock, threads)

    /**
     * Gets tokens for a password.
     *
     * @throws SecurePushFailure
     */
    fun logIn(userName: String, password: String): StoredCredentials {
        val authorization = ClientCredentials.basic(userName, password).authorization
        val response = send("POST", mapOf("Authorization" to authorization), null)
        // The server issues no tokens. Whether the password is right shows with the first request.
        if (response.status == 404 && AnswerForm.isOwnError(response)) {
            return StoredCredentials(userName, password = password)
        }
        return credentials(userName, response)
    }

    /**
     * Exchanges a refresh token; `null` if it cannot be used any more.
     *
     * @throws SecurePushFailure when it is not known, for example without a connection.
     */
    fun refresh(token: String, userName: String): StoredCredentials? {
        val response = send("POST", emptyMap(), token)
        return if (AnswerForm.endsSession(response)) null else credentials(userName, response)
    }

    /**
     * Ends a session.
     *
     * @param millis the longest time.
     * @return whether the server has answered. If not, the token expires.
     */
    fun end(token: String, millis: Long = TIMEOUT): Boolean = try {
        val response = send("DELETE", emptyMap(), token, millis.coerceIn(0, TIMEOUT))
        response.status == 204 || (response.status in 400..499 && AnswerForm.isOwnError(response))
    } catch (e: SecurePushFailure) {
        false
    }

    private fun credentials(userName: String, response: TransportResponse): StoredCredentials {
        val status = response.status
        // A 401 of a proxy does not say that the password is wrong.
        val isOwn = if (status == 200) AnswerForm.isJson(response) else
            status != 401 || AnswerForm.isOwnUnauthorized(response)
        if (!isOwn) throw SecurePushFailure(DiagnosticCode.MALFORMED_ANSWER)
        if (status != 200) throw SecurePushFailure(DiagnosticCode.status(status))
        return read(userName, response)
    }

    private fun read(userName: String, response: TransportResponse): StoredCredentials = try {
        val members = JsonValue.parse(response.body).members().filterValues { !it.isNull }
        val token = members["access_token"]?.text()
        val seconds = members["expires_in"]?.long()
        if (token.isNullOrEmpty() || (seconds != null && seconds !in 1..MAX_SECONDS)) throw JsonValue.Malformed()
        StoredCredentials(userName, token, seconds?.let { clock.date + it * 1_000 }, members["refresh_token"]?.text())
    } catch (e: JsonValue.Malformed) {
        throw SecurePushFailure(DiagnosticCode.MALFORMED_ANSWER)
    }

    private fun send(
        method: String, headers: Map<String, String>, token: String?, millis: Long = TIMEOUT
    ): TransportResponse {
        val all = LinkedHashMap(headers)
        all["Accept"] = "application/json"
        if (token != null) all["Content-Type"] = "application/json"
        val body = token?.let {
            JSONObject().put("grant_type", "refresh_token").put("refresh_token", it).toString().toByteArray()
        }
        val request = TransportRequest(method, url, all, body)
        try {
            return timeLimit.run(clock.uptime + millis) { transport.send(request, millis, MAX_BYTES) }
        } catch (e: TransportException) {
            throw SecurePushFailure(e.code)
        }
    }

    private companion object {
        const val TIMEOUT = 8_000L
        const val MAX_BYTES = 64 shl 10
        /** A hundred years. */
        const val MAX_SECONDS = 100L * 366 * 86_400
    }
}
