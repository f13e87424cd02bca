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
        state.owner = root.text("owner")
        state.userChanges = (root.number("userChanges") ?: 0).toInt()
        state.ledger = SecretLedger(root.list("ledger").map { entry(it) })
        state.cursor = root.text("cursor")?.let { id(it) }
        state.isPrompted = root.flag("isPrompted")
        state.unconfirmed = root.texts("unconfirmed").map { id(it) }
        state.unreported = root.list("reports").map { report(it) }
        state.registration = root.child("registration")?.let { record(it) } ?: RegistrationRecord()
        state.keyOwner = root.text("keyOwner")
        state.keyCheckedAt = root.number("keyCheckedAt")
        state.pushKeys = PushKeySet.of(root.texts("pushKeyPoints"))
        state.pushKeysReadAt = root.number("pushKeysReadAt")
        state.pushKeysAskedAt = root.number("pushKeysAskedAt")
        state.refreshLease = root.child("refreshLease")?.let { lease ->
            RefreshLease(lease.text("process") ?: throw JsonReader.Malformed(), lease.number("takenAt") ?: 0)
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
        val left = credentials.unregistrations
        if (left.isNotEmpty()) json.put("unregistrations", JSONArray(left.map { encode(it) }))
        return json.toString().toByteArray()
    }

    private fun encode(unregistration: PendingUnregistration): JSONObject {
        val json = JSONObject()
        json.put("id", unregistration.id)
        json.put("userName", unregistration.userName)
        json.put("baseUrl", unregistration.baseUrl)
        json.put("since", unregistration.since)
        json.put("installationID", unregistration.installationID)
        json.put("accessToken", unregistration.accessToken)
        json.put("refreshToken", unregistration.refreshToken)
        if (unregistration.isForgotten) json.put("isForgotten", true)
        return json
    }

    /** Reads the JSON text of credentials; `null` if it is damaged. */
    @JvmStatic
    fun decodeCredentials(bytes: ByteArray): StoredCredentials? = decode(bytes) { root ->
        StoredCredentials(
            root.text("userName"), root.text("accessToken"), root.number("expiresAt"),
            root.text("refreshToken"), root.text("password"), root.list("unregistrations").map { unregistration(it) }
        ).also { if (it.userName == null && it.unregistrations.isEmpty()) throw JsonReader.Malformed() }
    }

    private fun <R> decode(bytes: ByteArray, read: (Node) -> R): R? = try {
        JsonReader.read(bytes) { reader, span -> read(Node(reader, span)) }
    } catch (e: JsonReader.Malformed) {
        null
    }

    private fun entry(node: Node): SecretLedger.Entry {
        val name = node.text("progress")
        return SecretLedger.Entry(
            id(node.text("id")),
            SecretLedger.Progress.values().find { it.name == name } ?: throw JsonReader.Malformed(),
            node.text("claimant"), node.number("claimedAt"), node.flag("isNoticed"),
            (node.number("openRequests") ?: 0).toInt(), node.flag("isFirstReader"), node.number("expiresAt"),
            node.flag("isInAppOnly")
        )
    }

    private fun report(node: Node) =
        ShownReport(id(node.text("id")), node.flag("isSecret"), node.text("code")?.let { DiagnosticCode(it) })

    /** The state of an older version does not say what the app wants. A device that was unregistered has no digest. */
    private fun record(node: Node) = RegistrationRecord(
        node.text("installationID")?.let { uuid(it) }, node.text("userName"), node.text("digest"),
        node.number("registeredAt"), node.text("publicKey"), node.flag("isWanted") || node.text("digest") != null
    )

    private fun unregistration(node: Node) = PendingUnregistration(
        node.text("userName"), node.text("baseUrl") ?: throw JsonReader.Malformed(),
        node.number("since") ?: throw JsonReader.Malformed(), node.text("installationID")?.let { uuid(it) },
        node.text("accessToken"), node.text("refreshToken"), node.flag("isForgotten"),
        node.text("id") ?: throw JsonReader.Malformed()
    )

    /** The installation's ID becomes a part of a path, so a store with another text is damaged. */
    private fun uuid(text: String): String = try {
        text.takeIf { UUID.fromString(it).toString() == it } ?: throw JsonReader.Malformed()
    } catch (e: IllegalArgumentException) {
        throw JsonReader.Malformed()
    }

    private fun id(text: String?): PushID = PushID.of(text) ?: throw JsonReader.Malformed()

    /** An object of the text. */
    private class Node(private val reader: JsonReader, span: Span) {
        private val members = reader.members(span)

        fun text(name: String): String? = members[name]?.let { reader.string(it) }
        fun number(name: String): Long? = members[name]?.let { reader.long(it) }
        fun flag(name: String): Boolean = members[name]?.let { reader.boolean(it) } ?: false
        fun child(name: String): Node? = members[name]?.let { Node(reader, it) }
        fun list(name: String): List<Node> = spans(name).map { Node(reader, it) }
        fun texts(name: String): List<String> = spans(name).map { reader.string(it) }

        private fun spans(name: String): List<Span> =
            members[name]?.let { reader.elements(it, MAX_ELEMENTS) } ?: emptyList()
    }

    private const val MAX_ELEMENTS = 100_000
}
