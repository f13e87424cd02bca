package securepush

import java.time.Instant

/** A page of the user's inbox. */
class InboxPage internal constructor(
    /** The notifications, oldest first. */
    val entries: List<InboxEntry>,
    /** How many of all notifications the user has not read. */
    val unread: Int,
    /** The `after` of the next page; `null` if this is the last one. */
    val next: PushID?
)

/** A notification in the inbox. */
class InboxEntry internal constructor(
    /** Its ID, for [SecurePushClient.read]. */
    val id: PushID,
    /** When it was sent; `null` if the server did not say. */
    val createdAt: Instant?,
    /** Whether one of the user's devices has fetched it, or has marked it as read. */
    val isRead: Boolean,
    /** The secret, if the page was asked for with secrets; `null` also if it cannot be shown: see [code]. */
    val secret: SecretNotification? = null,
    /** Why there is no secret. */
    val code: DiagnosticCode? = null
) {
    override fun toString(): String = "notification $id"
}

/** One of the user's devices, as the server knows it. */
class UserDevice internal constructor(
    /** The installation's ID. */
    val id: String,
    /** The platform's name on the wire, such as `fcmv1`. */
    val platform: String,
    /** The day on which it last registered; `null` if the server did not say. */
    val lastSeenAt: Instant?,
    /** Whether it is this device. */
    val isThisDevice: Boolean
) {
    override fun toString(): String = "device of $platform"
}

internal fun SecurePushClient.listInbox(after: PushID?, isUnreadOnly: Boolean, hasSecrets: Boolean): InboxPage {
    val limit = if (hasSecrets) limits.maxSecretsPerPage else InboxAnswer.MAX_ENTRIES
    val query = arrayListOf("Limit" to "$limit")
    if (hasSecrets) {
        query.add(0, "include" to "payload")
        // The stored keys must belong to the user who is logged in.
        stored { adoptUser() }
    }
    if (isUnreadOnly) query.add("Unread" to "true")
    if (after != null) query.add("After" to after.rawValue)
    val deadline = begin(limits.millisInTotal).deadline
    val page = page(query, deadline)
    val entries = page.entries.map { entry(it) }
    noteRead(entries.mapNotNull { it.secret?.id }, deadline)
    return InboxPage(entries, page.unread, if (page.hasNext) entries.lastOrNull()?.id else null)
}

private fun SecurePushClient.entry(entry: InboxAnswer.Entry): InboxEntry {
    val sealed = entry.secret ?: return InboxEntry(entry.id, entry.createdAt, entry.isRead)
    return try {
        InboxEntry(entry.id, entry.createdAt, entry.isRead, withKey { open(sealed) })
    } catch (e: SecurePushFailure) {
        InboxEntry(entry.id, entry.createdAt, entry.isRead, code = e.code)
    }
}

internal fun SecurePushClient.readSecret(id: PushID): SecretNotification {
    val deadline = begin(limits.millisInTotal).deadline
    // The stored keys must belong to the user who is logged in.
    stored { adoptUser() }
    val call = RetrievalConnection.Call("api/notifications/$id", query = listOf("include" to "unread"))
    val answer = SecretAnswer.read(connection.send(call, deadline).orThrow().body, id)
    answer.unread?.let { presenter.setBadge(it) }
    return withKey { open(answer.secret) }.also { noteRead(listOf(id), deadline) }
}

/** Notes that the user sees secrets in the app. The server learns it of those that the system did not get. */
private fun SecurePushClient.noteRead(ids: List<PushID>, deadline: Long) {
    val isNews = unlessLocked {
        keeper.update { state ->
            val read = ids.filter { state.ledger.readInApp(it) }
            for (id in read) state.report(ShownReport(id))
            read.isNotEmpty()
        }
    } ?: false
    // Reports are sent in the background.
    if (isNews) threads.start { reportShown(deadline) }
}

internal fun SecurePushClient.fetchSecret(push: IncomingPush, wake: Wake): SecretNotification? {
    if (!push.isOurs) throw SecurePushFailure(DiagnosticCode.MALFORMED_PUSH)
    val id = when (val reception = receive(push, wake)) {
        is Reception.Wanted -> reception.id
        is Reception.Withdrawn, is Reception.Settled -> return null
        is Reception.Ignored -> throw SecurePushFailure(reception.code)
        is Reception.Unverified -> throw SecurePushFailure(DiagnosticCode.CREDENTIALS)
        is Reception.Unusable -> throw SecurePushFailure(DiagnosticCode.MALFORMED_PUSH)
        is Reception.Locked -> throw SecurePushFailure(DiagnosticCode.LOCKED)
    }
    return when (val acquisition = acquire(id, wake, wake.deadline)) {
        is Acquisition.Secret -> {
            // The app has it now. An end of the process before that leaves it in doubt, and it is fetched again.
            settle(acquisition.secret, isShown = true, wake = wake, isByApp = true)
            end(wake, WakeReport())
            acquisition.secret.takeIf { isCurrent(wake) }
        }
        is Acquisition.Settled -> null
        is Acquisition.Failed -> {
            unlessLocked { keeper.update { it.ledger.notice(id, acquisition.isGone) } }
            throw SecurePushFailure(acquisition.code)
        }
        is Acquisition.LoggedOut -> throw SecurePushFailure(acquisition.code)
        is Acquisition.Locked -> throw SecurePushFailure(DiagnosticCode.LOCKED)
    }
}

internal fun SecurePushClient.listDevices(): List<UserDevice> {
    val deadline = begin(limits.millisInTotal).deadline
    val own = unlessLocked { keeper.read() }?.registration?.installationID
    val devices = ArrayList<UserDevice>()
    var after: String? = null
    for (number in 1..MAX_PAGES_OF_DEVICES) {
        val query = after?.let { listOf("After" to it) } ?: emptyList()
        val outcome = connection.send(RetrievalConnection.Call("api/installations", query = query), deadline)
        after = readAnswer(outcome.orThrow().body) { readDevices(it, own, devices) } ?: break
    }
    return devices
}

/** @return the `After` of the next page. */
private fun readDevices(
    members: Map<String, JsonValue>, own: String?, devices: MutableList<UserDevice>
): String? {
    for (element in members.required("Installations").elements(MAX_DEVICES)) {
        val device = element.members()
        val id = device.required("installationId").text()
        val isOwn = id.equals(own, ignoreCase = true)
        devices.add(UserDevice(id, device["platform"]?.text() ?: "", time(device["LastSeenAt"]), isOwn))
    }
    return members["Next"]?.text()?.also { if (!isInstallation(it)) throw JsonValue.Malformed() }
}

internal fun SecurePushClient.removeInstallation(id: String) {
    require(isInstallation(id)) { "The text is no installation's ID." }
    if (id.equals(unlessLocked { keeper.read() }?.registration?.installationID, ignoreCase = true)) {
        unregister()
        return
    }
    val call = RetrievalConnection.Call("api/installations/$id", "DELETE", success = 204)
    val outcome = connection.send(call, begin(limits.millisInTotal).deadline)
    if (!outcome.isMissing) outcome.orThrow()
}

internal fun SecurePushClient.removeAllDevices() {
    val call = RetrievalConnection.Call("api/devices", "DELETE", success = 204)
    connection.send(call, begin(limits.millisInTotal).deadline).orThrow()
}

/** Whether a text is an ID as the server has them, which is harmless in a path. */
internal fun isInstallation(text: String): Boolean =
    text.length in 1..128 && text.any { it != '.' } &&
        text.all { it in 'a'..'z' || it in 'A'..'Z' || it in '0'..'9' || it in "-_." }

/** The server has at most 100 devices of a user; a page has at most 1 MiB. */
private const val MAX_PAGES_OF_DEVICES = 20
private const val MAX_DEVICES = 200
