package securepush.simulation

import java.net.URI
import java.time.Instant
import org.json.JSONArray
import org.json.JSONObject
import securepush.ClientCredentials
import securepush.PushID
import securepush.TransportRequest
import securepush.TransportResponse

/** The retrieval service, as far as a device sees it: section E of the contract. */
class SimulatedServer {
    class Stored(val id: PushID, val payload: Any, var isRead: Boolean = false, var isRevoked: Boolean = false) {
        /** `Display` in the answer to a fetch. */
        var display: String? = null
        /** When it expires, in milliseconds since 1970; the server gives it until it is revoked. */
        var expiresAt: Long? = null
        /** The answers that the sender asks for, the challenge, and what the user has answered. */
        var answers = emptyList<String>()
        var challenge: String? = null
        var answer: JSONObject? = null
    }

    val stored = ArrayList<Stored>()
    private val accessTokens = HashSet<String>()
    private val refreshTokens = HashSet<String>()
    private var count = 0
    /** Method and path of each request, in order. */
    val log = ArrayList<String>()
    /** The bodies of the requests that had one. */
    val bodies = ArrayList<Pair<String, String>>()
    /** Requests to any other host, or with credentials in the URL. */
    var strayRequests = 0
    /** The bodies of the installations, by ID. */
    val installations = LinkedHashMap<String, String>()
    /** The notifications whose secrets were reported as shown. */
    val shownReports = LinkedHashSet<String>()
    /** The statuses of the next registrations; then 200. */
    val registrationStatuses = ArrayList<Int>()
    /** The statuses of the next registrations of keys; then 204. */
    val keyStatuses = ArrayList<Int>()
    var pushKeys = "{\"keys\":[]}"
    /** The answer to `GET /api/push-config`; `null`: 404. */
    var pushConfig: String? = null

    /** Stores a secret for the user; by default a text with its ID. */
    fun send(payload: Any? = null): PushID {
        count += 1
        val text = "019aa4a2-1c9b-7000-8000-%012d".format(count)
        val id = checkNotNull(PushID.of(text))
        stored.add(Stored(id, payload ?: "secret of $text"))
        return id
    }

    /** A log-in's tokens. */
    private fun tokens(): Pair<String, String> {
        count += 1
        accessTokens.add("access-$count")
        refreshTokens.add("refresh-$count")
        return Pair("access-$count", "refresh-$count")
    }

    /** The server refuses the access tokens that it has issued; refresh tokens stay. */
    fun revokeAccessTokens() = accessTokens.clear()

    /** The user has to log in again. */
    fun endSessions() {
        accessTokens.clear()
        refreshTokens.clear()
    }

    fun count(prefix: String): Int = log.count { it.startsWith(prefix) }

    fun respond(request: TransportRequest): TransportResponse {
        val url = request.url
        if (url.host != HOST || url.scheme != "https" || url.userInfo != null) {
            strayRequests += 1
            return TransportResponse(200)
        }
        log.add("${request.method} ${url.path}")
        request.body?.let { bodies.add(Pair("${request.method} ${url.path}", String(it))) }
        val path = url.path.split("/").filter { it.isNotEmpty() }
        if (path == listOf("api", "token")) return token(request)
        if (path == listOf("api", "push-keys")) return TransportResponse(200, body = pushKeys.toByteArray())
        if (path == listOf("api", "push-config")) {
            return pushConfig?.let { TransportResponse(200, body = it.toByteArray()) } ?: refusal(404)
        }
        if (!isAuthorized(request)) {
            return refusal(401)
        }
        val query = (url.query ?: "").split("&").filter { it.contains("=") }
            .associate { it.substringBefore("=") to it.substringAfter("=") }
        return respond(request.method, path, query)
    }

    private fun respond(method: String, path: List<String>, query: Map<String, String>): TransportResponse = when {
        method == "GET" && path == listOf("api", "notifications") -> inbox(query)
        method == "GET" && path.size == 3 && path[1] == "notifications" -> read(path[2], query)
        method == "HEAD" && path.size == 3 -> if (isThere(path[2])) TransportResponse(200) else refusal(410)
        method == "GET" && path == listOf("api", "installations") -> devices(query["After"])
        method == "DELETE" && path == listOf("api", "devices") -> {
            installations.clear()
            TransportResponse(204)
        }
        method == "POST" && path.last() == "shown" -> {
            if (JSONObject(bodies.last().second).getString("Text") == "secret") shownReports.add(path[2])
            if (isThere(path[2])) TransportResponse(204) else refusal(404)
        }
        method == "POST" && path.last() == "answer" -> answer(stored.find { it.id.rawValue == path[2] })
        method == "POST" && path.last() == "read" -> TransportResponse(204)
        method == "PUT" && path.size > 1 && path[1] == "installations" && registrationStatuses.isNotEmpty() ->
            refusal(registrationStatuses.removeAt(0))
        method == "PUT" && path.last() == "key" && keyStatuses.isNotEmpty() -> refusal(keyStatuses.removeAt(0))
        method == "PUT" && path.last() != "key" -> {
            installations[path[2]] = bodies.last().second
            TransportResponse(200)
        }
        method == "PUT" || method == "DELETE" -> {
            if (method == "DELETE") installations.remove(path.last())
            TransportResponse(204)
        }
        else -> refusal(404)
    }

    /** One answer, with the right challenge. */
    private fun answer(entry: Stored?): TransportResponse {
        val given = JSONObject(bodies.last().second)
        val before = entry?.answer
        return when {
            entry == null -> refusal(404)
            entry.isRevoked -> refusal(410)
            before != null && before.getString("Action") != given.getString("Action") -> refusal(409)
            given.getString("Action") !in entry.answers -> refusal(422)
            entry.challenge != null && given.optString("Challenge") != entry.challenge -> refusal(422)
            else -> {
                entry.answer = given
                TransportResponse(204)
            }
        }
    }

    private fun isThere(id: String) = stored.any { it.id.rawValue == id && !it.isRevoked }

    private fun isAuthorized(request: TransportRequest): Boolean {
        val value = request.headers["Authorization"] ?: ""
        if (value.startsWith("Bearer ")) return value.substring(7) in accessTokens
        return value == ClientCredentials.basic(USER, PASSWORD).authorization
    }

    /** A log-in with the password, or a refresh. A refresh token is single use; a second use ends the family. */
    private fun token(request: TransportRequest): TransportResponse {
        val presented = request.body?.let { JSONObject(String(it)).optString("refresh_token") }
        if (presented != null) {
            if (!refreshTokens.remove(presented)) {
                endSessions()
                return refusal(401)
            }
        } else if (!isAuthorized(request)) {
            return refusal(401)
        }
        if (request.method == "DELETE") return TransportResponse(204)
        val (access, refresh) = tokens()
        return answer(
            JSONObject().put("access_token", access).put("token_type", "Bearer").put("expires_in", 3600)
                .put("refresh_token", refresh)
        )
    }

    /** Two on a page. */
    private fun devices(after: String?): TransportResponse {
        val rest = installations.keys.sorted().filter { after == null || it > after }
        val page = rest.take(2).map { id ->
            JSONObject(installations.getValue(id)).put("LastSeenAt", "2026-11-22T00:00:00.000Z").put("userId", USER)
        }
        val answer = JSONObject().put("Installations", JSONArray(page))
        if (rest.size > 2) answer.put("Next", rest[1])
        return answer(answer)
    }

    private fun read(id: String, query: Map<String, String>): TransportResponse {
        val entry = stored.find { it.id.rawValue == id } ?: return refusal(404)
        if (entry.isRevoked) return refusal(410)
        val answer = json(entry, withPayload = true)
        entry.isRead = true
        if (query["include"] == "unread") answer.put("Unread", unread)
        return answer(answer)
    }

    private fun inbox(query: Map<String, String>): TransportResponse {
        val withPayload = query["include"] == "payload"
        val limit = minOf(query["Limit"]?.toInt() ?: 50, if (withPayload) 20 else 200)
        val after = query["After"]
        val found = stored.filter { entry ->
            !entry.isRevoked && (query["Unread"] != "true" || !entry.isRead) &&
                (after == null || entry.id.rawValue > after)
        }
        val page = found.take(limit)
        val answer = JSONObject().put("Notifications", JSONArray(page.map { json(it, withPayload) }))
        if (withPayload) for (entry in page) entry.isRead = true
        answer.put("Unread", unread)
        if (found.size > page.size) answer.put("Next", page.last().id.rawValue)
        return answer(answer)
    }

    private val unread: Int get() = stored.count { !it.isRead && !it.isRevoked }

    private fun json(entry: Stored, withPayload: Boolean): JSONObject {
        val json = JSONObject().put("Id", entry.id.rawValue).put("Read", entry.isRead)
        json.put("Display", entry.display)
        entry.expiresAt?.let { json.put("ExpiresAt", Instant.ofEpochMilli(it).toString()) }
        if (withPayload) return json.put("Payload", entry.payload)
        return json.put("CreatedAt", "2026-11-22T10:00:00.000Z")
    }

    private fun answer(json: JSONObject) =
        TransportResponse(200, mapOf("Content-Type" to "application/json"), json.toString().toByteArray())

    companion object {
        const val HOST = "push.example.com"
        const val USER = "alice"
        const val PASSWORD = "correct horse"
        val url = URI("https://$HOST")

        /** An error of the server. */
        fun refusal(status: Int, headers: Map<String, String> = emptyMap()): TransportResponse {
            val challenge = if (status == 401) mapOf("WWW-Authenticate" to "Bearer error=\"invalid_token\", Basic") else
                emptyMap()
            return TransportResponse(status, mapOf("Content-Type" to "application/problem+json") + challenge + headers)
        }

        /** The page of a proxy or a captive portal. */
        fun ofProxy(status: Int, text: String = "<html></html>") =
            TransportResponse(status, mapOf("Content-Type" to "text/html"), text.toByteArray())
    }
}
