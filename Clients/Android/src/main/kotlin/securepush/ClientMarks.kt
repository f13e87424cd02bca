package securepush

import org.json.JSONArray
import org.json.JSONObject

internal fun SecurePushClient.markAsRead(ids: List<PushID>, wake: Wake) {
    for (part in ids.chunked(MAX_MARKS)) {
        mark(JSONObject().put("Ids", JSONArray(part.map { it.rawValue })), wake.deadline)
    }
    finishReading(ids, wake.deadline)
}

/** Removes read notifications from the screen, and sets the badge. */
internal fun SecurePushClient.finishReading(ids: List<PushID>, deadline: Long) {
    // The next wake must not show them.
    unlessLocked { keeper.update { state -> for (id in ids) state.ledger.withdraw(id, limits) } }
    presenter.remove(ids)
    refreshBadge(deadline)
}

internal fun SecurePushClient.markAsReadThrough(id: PushID, wake: Wake) {
    mark(JSONObject().put("Through", id.rawValue), wake.deadline)
    refreshBadge(wake.deadline)
}

private fun SecurePushClient.mark(body: JSONObject, deadline: Long) {
    val call = RetrievalConnection.Call("api/notifications/read", "POST", json = body.toString(), success = 204)
    connection.send(call, deadline).orThrow()
}

/** Asks for the number of unread notifications. A failure leaves the badge as it is. */
private fun SecurePushClient.refreshBadge(deadline: Long) {
    try {
        presenter.setBadge(page(listOf("Limit" to "1", "Unread" to "true"), deadline).unread)
    } catch (e: SecurePushFailure) {
        return
    }
}

/**
 * Tells the server which notifications this device shows, and where it shows the generic text and why. One wake does
 * this for all wakes at the same time. A failure ends it until the next wake.
 */
internal fun SecurePushClient.reportShown(deadline: Long) {
    if (!isReporting.compareAndSet(false, true)) return
    try {
        val end = minOf(deadline, clock.uptime + MILLIS_FOR_REPORTS)
        // A store that cannot be written keeps an ID, so it is reported once.
        val reported = HashSet<ShownReport>()
        while (reported.size < MAX_REPORTS) {
            val state = unlessLocked { keeper.read() } ?: return
            // The server knows a generic text by the device that shows it.
            val isRegistered = state.registration.installationID != null
            val report = state.unreported.find { it !in reported && (it.isSecret || isRegistered) } ?: return
            reported.add(report)
            val call = RetrievalConnection.Call(
                "api/notifications/${report.id}/shown", "POST", json = report.body(state.registration.installationID),
                success = 204
            )
            val outcome = connection.send(call, end)
            // A redirect or an error of a proxy is no answer to the report.
            val isFinal = outcome is RetrievalConnection.Outcome.Success ||
                (outcome is RetrievalConnection.Outcome.Refused && outcome.isOwn)
            if (!isFinal) return
            unlessLocked { keeper.update { state -> state.unreported = state.unreported - report } }
        }
    } finally {
        isReporting.set(false)
    }
}

/** The server's limit of IDs in one request. */
private const val MAX_MARKS = 1_000
/** How many shown notifications one wake reports. */
private const val MAX_REPORTS = 50
/** A report is never worth more time than this. */
private const val MILLIS_FOR_REPORTS = 5_000L
