package securepush

import java.util.UUID
import org.json.JSONArray
import org.json.JSONObject

/** Turns what a store keeps into JSON and back. For stores of your own. */
object ClientStateCoding {
    /** The JSON text of a state. */
    @JvmStatic
    fun encode(state: ClientState): ByteArray {
        val json = JSONObject()
        json.put("owner", state.owner)
        json.put("userChanges", state.userChanges)
        json.put("ledger", JSONArray(state.ledger.entries.map { encode(it) }))
        json.put("cursor", state.cursor?.rawValue)
        json.put("isPrompted", state.isPrompted)
        json.put("unconfirmed", JSONArray(state.unconfirmed.map { it.rawValue }))
        json.put("reports", JSONArray(state.unreported.map { encode(it) }))
        json.put("registration", encode(state.registration))
        json.put("keyOwner", state.keyOwner)
        json.put("keyCheckedAt", state.keyCheckedAt)
        json.put("pushKeyPoints", state.pushKeys?.let { JSONArray(it.texts) })
        json.put("pushKeysReadAt", state.pushKeysReadAt)
        json.put("pushKeysAskedAt", state.pushKeysAskedAt)
        json.put("refreshLease", state.refreshLease?.let { lease ->
            JSONObject().put("process", lease.process).put("takenAt", lease.takenAt)
        })
        return json.toString().toByteArray()
    }

    private fun encode(report: ShownReport): JSONObject = JSONObject().put("id", report.id.rawValue)
        .put("isSecret", report.isSecret).put("code", report.code?.rawValue)

    private fun encode(entry: SecretLedger.Entry): JSONObject {
        val json = JSONObject()
        json.put("id", entry.id.rawValue)
        json.put("progress", entry.progress.name)
        json.put("claimant", entry.claimant)
        json.put("claimedAt", entry.claimedAt)
        if (entry.isNoticed) json.put("isNoticed", true)
        if (entry.openRequests > 0) json.put("openRequests", entry.openRequests)
        if (entry.isFirstReader) json.put("isFirstReader", true)
        json.put("expiresAt", entry.expiresAt)
        if (entry.isInAppOnly) json.put("isInAppOnly", true)
        return json
    }

    private fun encode(record: RegistrationRecord): JSONObject {
        val json = JSONObject()
        json.put("installationID", record.installationID)
        json.put("userName", record.userName)
        json.put("digest", record.digest)
        json.put("registeredAt", record.registeredAt)
        json.put("publicKey", record.publicKey)
        if (record.isWanted) json.put("isWanted", true)
        return json
    }

    /** Reads the JSON text of a state; `null` if it is damaged. */
    @JvmStatic
    fun decodeState(bytes: ByteArray): ClientState? = decode(bytes) { root ->
        val state = ClientState()
        state.owner = root["owner"]?.text()
        state.userChanges = (root["userChanges"]?.long() ?: 0).toInt()
        state.ledger = SecretLedger(root.list("ledger").map { entry(it.members()) })
        state.cursor = root["cursor"]?.text()?.let { id(it) }
        state.isPrompted = root.flag("isPrompted")
        state.unconfirmed = root.list("unconfirmed").map { id(it.text()) }
        state.unreported = root.list("reports").map { report(it.members()) }
        state.registration = root["registration"]?.let { record(it.members()) } ?: RegistrationRecord()
        state.keyOwner = root["keyOwner"]?.text()
        state.keyCheckedAt = root["keyCheckedAt"]?.long()
        state.pushKeys = PushKeySet.of(root.list("pushKeyPoints").map { it.text() })
        state.pushKeysReadAt = root["pushKeysReadAt"]?.long()
        state.pushKeysAskedAt = root["pushKeysAskedAt"]?.long()
        state.refreshLease = root["refreshLease"]?.members()?.let { lease ->
            RefreshLease(lease.required("process").text(), lease["takenAt"]?.long() ?: 0)
        }
        state
    }

    /** The JSON text of credentials. It is a secret: encrypt it. */
    @JvmStatic
    fun encode(credentials: StoredCredentials): ByteArray {
        val json = JSONObject()
        json.put("userName", credentials.userName)
        json.put("accessToken", credentials.accessToken)
        json.put("expiresAt", credentials.expiresAt)
        json.put("refreshToken", credentials.refreshToken)
        json.put("password", credentials.password)
        val left = credentials.departures
        if (left.isNotEmpty()) json.put("unregistrations", JSONArray(left.map { encode(it) }))
        return json.toString().toByteArray()
    }

    private fun encode(departure: Departure): JSONObject {
        val json = JSONObject()
        json.put("id", departure.id)
        json.put("userName", departure.userName)
        json.put("baseUrl", departure.baseUrl)
        json.put("since", departure.since)
        json.put("installationID", departure.installationID)
        json.put("accessToken", departure.accessToken)
        json.put("refreshToken", departure.refreshToken)
        if (departure.isForgotten) json.put("isForgotten", true)
        return json
    }

    /** Reads the JSON text of credentials; `null` if it is damaged. */
    @JvmStatic
    fun decodeCredentials(bytes: ByteArray): StoredCredentials? = decode(bytes) { root ->
        StoredCredentials(
            root["userName"]?.text(), root["accessToken"]?.text(), root["expiresAt"]?.long(),
            root["refreshToken"]?.text(), root["password"]?.text(),
            root.list("unregistrations").map { departure(it.members()) }
        ).also { if (it.userName == null && it.departures.isEmpty()) throw JsonValue.Malformed() }
    }

    private fun <R> decode(bytes: ByteArray, read: (Map<String, JsonValue>) -> R): R? = try {
        read(JsonValue.parse(bytes).members())
    } catch (e: JsonValue.Malformed) {
        null
    }

    private fun entry(node: Map<String, JsonValue>): SecretLedger.Entry {
        val name = node["progress"]?.text()
        return SecretLedger.Entry(
            id(node["id"]?.text()),
            SecretLedger.Progress.values().find { it.name == name } ?: throw JsonValue.Malformed(),
            node["claimant"]?.text(), node["claimedAt"]?.long(), node.flag("isNoticed"),
            (node["openRequests"]?.long() ?: 0).toInt(), node.flag("isFirstReader"), node["expiresAt"]?.long(),
            node.flag("isInAppOnly")
        )
    }

    private fun report(node: Map<String, JsonValue>) =
        ShownReport(id(node["id"]?.text()), node.flag("isSecret"), node["code"]?.text()?.let { DiagnosticCode(it) })

    /** The state of an older version does not say what the app wants. A device that was unregistered has no digest. */
    private fun record(node: Map<String, JsonValue>) = RegistrationRecord(
        node["installationID"]?.text()?.let { uuid(it) }, node["userName"]?.text(), node["digest"]?.text(),
        node["registeredAt"]?.long(), node["publicKey"]?.text(), node.flag("isWanted") || node["digest"]?.text() != null
    )

    private fun departure(node: Map<String, JsonValue>) = Departure(
        node["userName"]?.text(), node.required("baseUrl").text(),
        node.required("since").long(), node["installationID"]?.text()?.let { uuid(it) },
        node["accessToken"]?.text(), node["refreshToken"]?.text(), node.flag("isForgotten"),
        node.required("id").text()
    )

    /** The installation's ID becomes a part of a path, so a store with another text is damaged. */
    private fun uuid(text: String): String = try {
        text.takeIf { UUID.fromString(it).toString() == it } ?: throw JsonValue.Malformed()
    } catch (e: IllegalArgumentException) {
        throw JsonValue.Malformed()
    }

    private fun id(text: String?): PushID = PushID.of(text) ?: throw JsonValue.Malformed()

    private fun Map<String, JsonValue>.list(name: String): List<JsonValue> =
        this[name]?.elements(MAX_ELEMENTS) ?: emptyList()

    private const val MAX_ELEMENTS = 100_000
}
