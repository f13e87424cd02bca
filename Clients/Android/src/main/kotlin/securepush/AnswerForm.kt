package securepush

/**
 * Tells the answers of the retrieval service from those of a proxy, a gateway or a captive portal in front of it. All
 * errors of the service are `application/problem+json`, and its 401 has `WWW-Authenticate`; what else it sends is JSON
 * or nothing.
 */
internal object AnswerForm {
    private const val PROBLEM = "application/problem+json"
    private const val JSON = "application/json"

    /** Whether an answer is JSON, or does not say what it is. */
    fun isJson(response: TransportResponse): Boolean = mediaType(response) in setOf("", JSON, PROBLEM)

    /** Whether an error has the form of the service's. The JSON of a gateway has not: `{"message":"no Route"}`. */
    fun isOwnError(response: TransportResponse): Boolean =
        mediaType(response).let { it == PROBLEM || (it == "" && response.body.isEmpty()) }

    /** Whether the service itself has refused the credentials. A 401 of a proxy says nothing of them. */
    fun isOwnUnauthorized(response: TransportResponse): Boolean =
        response.status == 401 && isOwnError(response) &&
            (mediaType(response) == PROBLEM || hasChallenge(response))

    /**
     * Whether a refusal cannot be of the service. Statuses after which the request is repeated anyway do not count.
     *
     * @param isAuthorized whether the request had credentials.
     */
    fun isForeignRefusal(response: TransportResponse, isAuthorized: Boolean): Boolean {
        val status = response.status
        if (status !in 400..499 || status == 408 || status == 429) return false
        return !isOwnError(response) || (status == 401 && isAuthorized && !isOwnUnauthorized(response))
    }

    /**
     * Whether the service has carried out a request: the status of the route, and JSON for `GET`, otherwise no body. A
     * captive portal answers everything with 200.
     */
    fun isSuccess(response: TransportResponse, call: RetrievalConnection.Call): Boolean =
        isJson(response) && response.status == call.success && (call.method == "GET" || response.body.isEmpty())

    /** Whether an answer to a refresh ends the session: the service's own 401, or `invalid_grant` (RFC 6749, 5.2). */
    fun endsSession(response: TransportResponse): Boolean {
        if (response.status != 400 || mediaType(response) != JSON) return isOwnUnauthorized(response)
        return try {
            JsonValue.parse(response.body).members()["error"]?.text() == "invalid_grant"
        } catch (e: JsonValue.Malformed) {
            false
        }
    }

    private fun mediaType(response: TransportResponse): String =
        lowerCase((response.headers["content-type"] ?: "").substringBefore(';').trim())

    private fun hasChallenge(response: TransportResponse): Boolean =
        (response.headers["www-authenticate"] ?: "").split(',')
            .any { lowerCase(it.trim().substringBefore(' ')) == "bearer" }
}
