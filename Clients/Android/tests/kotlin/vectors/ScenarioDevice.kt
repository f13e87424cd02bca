package securepush.vectors

import java.net.URI
import java.util.UUID
import org.json.JSONArray
import org.json.JSONObject
import securepush.ClientState
import securepush.ClientStore
import securepush.ClientStoreException
import securepush.EnvelopePrivateKey
import securepush.GenericNotice
import securepush.LogInPrompt
import securepush.NotificationPresenter
import securepush.PushID
import securepush.SecretNotification
import securepush.StoredCredentials
import securepush.Transport
import securepush.TransportException
import securepush.TransportRequest
import securepush.TransportResponse
import securepush.simulation.Simulation

/** The storage of a scenario's device, with its faults. */
internal class ScenarioStore : ClientStore {
    private var state = ClientState()
    var credentials: StoredCredentials? = null
    private var hasNoticed = false
    var isLocked = false
    /** How many changes still fail. */
    var refusedWrites = 0

    /** The wake is over, and with it what was wrong. */
    fun heal() {
        isLocked = false
        refusedWrites = 0
    }

    /** What cannot be decoded is put aside, and the store begins anew. */
    fun damage() {
        state = ClientState()
    }

    override fun read(): ClientState {
        check(writes = false)
        return state.copy()
    }

    override fun <R> update(change: (ClientState) -> R): R {
        check(writes = true)
        val next = state.copy()
        val result = change(next)
        state = next
        return result
    }

    override fun credentials(): StoredCredentials? {
        check(writes = false)
        return credentials
    }

    override fun save(credentials: StoredCredentials?) {
        check(writes = true)
        this.credentials = credentials
    }

    override fun replace(expected: StoredCredentials?, credentials: StoredCredentials?): Boolean {
        check(writes = true)
        if (this.credentials != expected) return false
        this.credentials = credentials
        return true
    }

    override fun envelopeKeys(): List<EnvelopePrivateKey> = emptyList()

    override fun makeEnvelopeKey(date: Long): EnvelopePrivateKey = throw UnsupportedOperationException()

    override fun removeEnvelopeKeys() = Unit

    override fun rememberEnvelope(id: UUID, notification: PushID, date: Long): Boolean = true

    override fun claimLockedNotice(): Boolean {
        val isFirst = !hasNoticed
        hasNoticed = true
        return isFirst
    }

    private fun check(writes: Boolean) {
        if (isLocked) throw ClientStoreException(ClientStoreException.Reason.LOCKED)
        if (!writes || refusedWrites == 0) return
        refusedWrites -= 1
        throw ClientStoreException(ClientStoreException.Reason.UNWRITABLE)
    }
}

/** The screen of a scenario's device. */
internal class ScenarioScreen : NotificationPresenter {
    private val secrets = sortedSetOf<String>()
    private val notices = sortedSetOf<String>()
    private var hasPrompt = false
    private var wake = Wake()
    /** How many secrets are still refused. */
    var refusals = 0

    /** What happened in a wake. */
    private class Wake {
        val shown = JSONArray()
        val generic = JSONArray()
        val prompts = JSONArray()
        var locked = 0
        var badge: Int? = null
    }

    fun begin() {
        wake = Wake()
        refusals = 0
    }

    /** The part of `expect` that the user sees. */
    fun observation(): JSONObject {
        val screen = JSONObject().put("secrets", JSONArray(secrets)).put("generic", JSONArray(notices))
        return JSONObject().put("shown", wake.shown).put("generic", wake.generic).put("prompts", wake.prompts)
            .put("locked", wake.locked).put("badge", wake.badge ?: JSONObject.NULL)
            .put("screen", screen.put("prompt", hasPrompt))
    }

    override fun show(secret: SecretNotification) {
        if (refusals > 0) {
            refusals -= 1
            throw IllegalStateException("refused")
        }
        wake.shown.put(JSONObject().put("id", secret.id.rawValue).put("text", secret.text))
        secrets.add(secret.id.rawValue)
        notices.remove(secret.id.rawValue)
    }

    override fun show(notice: GenericNotice) {
        if (notice.kind == GenericNotice.Kind.LOCKED) {
            wake.locked += 1
            return
        }
        val (id, code) = Pair(notice.id?.rawValue, notice.code?.rawValue)
        wake.generic.put(JSONObject().put("id", id ?: JSONObject.NULL).put("code", code ?: JSONObject.NULL))
        notice.id?.let { notices.add(it.rawValue) }
    }

    override fun show(prompt: LogInPrompt) {
        wake.prompts.put(
            JSONObject().put("ids", JSONArray(prompt.ids.map { it.rawValue })).put("code", prompt.code.rawValue)
        )
        hasPrompt = true
    }

    override fun remove(ids: List<PushID>) {
        secrets.removeAll(ids.map { it.rawValue })
        notices.removeAll(ids.map { it.rawValue })
    }

    override fun removePrompt() {
        hasPrompt = false
    }

    override fun setBadge(count: Int) {
        wake.badge = count
    }

    override fun displayedSecrets(): Set<PushID>? = secrets.mapNotNullTo(HashSet()) { PushID.of(it) }
}

/** The server of a scenario: rules, each with its answers. */
internal class ScriptedTransport(
    rules: List<JSONObject>, private val server: URI, private val simulation: Simulation
) : Transport {
    /** A request, as it was sent. */
    class Sent(private val time: Long, private val json: JSONObject) {
        fun json(begin: Long): JSONObject = json.put("atMs", time - begin)
    }

    private class Rule(json: JSONObject) {
        val method: String = json.getString("method")
        val path: String = json.getString("path")
        val query = json.getJSONObject("query").texts()
        val answers = json.getJSONArray("answers").objects().toMutableList()
        val then: JSONObject = json.getJSONObject("then")
    }

    private val rules = rules.map { Rule(it) }
    /** The requests of the wake. */
    val sent = ArrayList<Sent>()

    override fun send(request: TransportRequest, timeout: Long, maxBytes: Int): TransportResponse {
        val answer = record(request)
        val millis = answer.optLong("afterMs", HANGS)
        // What comes at the time-out or later comes too late; the client does not wait for it.
        simulation.sleep(if (millis < timeout) millis else HANGS)
        when (answer.optString("error")) {
            "unreachable" -> throw TransportException(TransportException.Reason.UNREACHABLE)
            "untrusted" -> throw TransportException(TransportException.Reason.UNTRUSTED)
        }
        val count = answer.optInt("bodyBytes", -1)
        if (count > maxBytes) throw TransportException(TransportException.Reason.TOO_LARGE)
        val body = if (count >= 0) ByteArray(count) { 'x'.toByte() } else answer.optString("body").toByteArray()
        return TransportResponse(answer.getInt("status"), answer.child("headers")?.texts() ?: emptyMap(), body)
    }

    /** Writes a request down, and takes its answer. */
    private fun record(request: TransportRequest): JSONObject {
        val url = request.url
        val query = (url.rawQuery ?: "").split("&").filter { it.isNotEmpty() }
            .associate { it.substringBefore("=") to it.substringAfter("=", "") }
        // Another host would be seen here.
        val path = if (url.host == server.host && url.scheme == "https") url.rawPath else "$url"
        val json = JSONObject().put("method", request.method).put("path", path).put("query", JSONObject(query))
        json.put("authorization", request.headers["Authorization"] ?: JSONObject.NULL)
        sent.add(Sent(simulation.uptime, json))
        val rule = rules.find { rule ->
            rule.method == request.method && rule.path == path && rule.query.all { query[it.key] == it.value }
        } ?: return JSONObject().put("afterMs", 50).put("status", 404)
        return if (rule.answers.isEmpty()) rule.then else rule.answers.removeAt(0)
    }

    private companion object {
        const val HANGS = 600_000L
    }
}
