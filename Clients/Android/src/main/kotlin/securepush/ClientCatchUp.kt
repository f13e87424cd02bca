package securepush

/** The new notifications of the inbox. They are stored as waiting. */
private class Listing(
    /**
     * The notification after which the new ones come; `null` for the first listing of this device, which is of unread
     * notifications only.
     */
    val anchor: PushID?,
    /** [Wake.userChanges] of the wake that lists. */
    val userChanges: Int
) {
    var found: List<PushID> = emptyList()
    var unread = 0
}

/** How far a catch-up has come. */
private class CatchUp(var unread: Int) {
    var report = WakeReport()
}

/** Fetches what is in the inbox and what waits, and shows it. */
internal fun SecurePushClient.runCatchUp(wake: Wake): WakeReport {
    val deadline = wake.deadline
    resolveDoubts()
    confirmWithdrawals(deadline)
    val inbox = try {
        list(wake) ?: return WakeReport()
    } catch (e: SecurePushFailure) {
        if (!isCurrent(wake)) return WakeReport()
        // What waits is not lost; the next wake tries again.
        val waiting = if (e.code.asksForLogIn) waiting() else emptyList()
        return if (waiting.isEmpty()) WakeReport.failed(e.code) else prompt(waiting, e.code)
    }
    val run = CatchUp(inbox.unread)
    if (inbox.found.size > 1) showPages(inbox, run, wake)
    if (run.report.code == null) showWaiting(run, wake)
    if (run.report.code == null && waitForClaims(deadline)) showWaiting(run, wake)
    if (isCurrent(wake)) presenter.setBadge(run.unread)
    return run.report
}

/**
 * Waits until the claims of other processes have expired, and then checks whether they showed the secrets.
 *
 * @return whether there were any, and there was time for them.
 */
private fun SecurePushClient.waitForClaims(deadline: Long): Boolean {
    val claims = unlessLocked { keeper.read().ledger }?.claims(process, clock.uptime, limits) ?: emptyList()
    val millis = claims.fold(0L) { longest, claim -> maxOf(longest, claim.millisLeft) }
    if (claims.isEmpty() || clock.uptime + millis >= deadline || !sleep(millis)) return false
    resolveDoubts()
    return true
}

/**
 * Lists the inbox after the last seen notification, without payloads: nothing is marked as read before it is stored as
 * waiting.
 *
 * @return `null` if the user has changed: that user's wake lists the inbox.
 * @throws SecurePushFailure
 */
private fun SecurePushClient.list(wake: Wake): Listing? {
    val state = unlessLocked { keeper.read() } ?: throw SecurePushFailure(DiagnosticCode.LOCKED)
    if (state.userChanges > wake.userChanges) return null
    val cursor = state.cursor
    val listing = Listing(cursor, wake.userChanges)
    listPages(listing, cursor, cursor == null, wake.deadline)
    // A delayed notification (`NotBefore`) is older than the last seen one. It is unread, and not known here.
    if (cursor != null && listing.unread > waiting().size) listPages(listing, null, true, wake.deadline)
    return listing.takeIf { isCurrent(wake) }
}

private fun SecurePushClient.listPages(listing: Listing, start: PushID?, isUnreadOnly: Boolean, deadline: Long) {
    var after = start
    for (number in 1..MAX_PAGES) {
        val query = arrayListOf("Limit" to "${InboxAnswer.MAX_ENTRIES}")
        if (isUnreadOnly) query.add("Unread" to "true")
        if (after != null) query.add("After" to after.rawValue)
        val page = page(query, deadline)
        listing.unread = page.unread
        val ids = page.entries.map { it.id }
        // The user has changed since the request, or nothing can be stored now.
        val learned = learn(ids, !isUnreadOnly || listing.anchor == null, listing.userChanges) ?: return
        val (new, waiting) = learned
        listing.found = listing.found + new
        // The rest comes at the next wake. More IDs would push waiting ones out of the ledger.
        val last = ids.lastOrNull()
        if (!page.hasNext || last == null || last == after || waiting >= limits.maxRememberedIDs / 2) return
        after = last
    }
}

/**
 * Stores the notifications of a page.
 *
 * The listing of delayed notifications is behind the cursor and does not move it. A device that has seen no page yet
 * begins after the newest notification that it has shown.
 *
 * @return the new ones, and how many wait; `null` if the user has changed.
 */
private fun SecurePushClient.learn(
    ids: List<PushID>, movesCursor: Boolean, userChanges: Int
): Pair<List<PushID>, Int>? {
    val learned: List<Pair<List<PushID>, Int>> = unlessLocked {
        keeper.update { state ->
            if (state.userChanges > userChanges) return@update emptyList<Pair<List<PushID>, Int>>()
            val known = state.ledger.entries.mapTo(HashSet()) { it.id }
            for (id in ids) state.ledger.learn(id, limits)
            if (movesCursor) state.cursor = ids.lastOrNull() ?: state.cursor ?: state.ledger.lastShown
            listOf(Pair(ids.filter { it !in known }, state.ledger.waiting.size))
        }
    } ?: emptyList()
    return learned.firstOrNull()
}

/** @throws SecurePushFailure */
internal fun SecurePushClient.page(query: List<Pair<String, String>>, deadline: Long): InboxAnswer {
    val outcome = connection.send(RetrievalConnection.Call("api/notifications", query = query), deadline)
    return InboxAnswer.read(outcome.orThrow().body)
}

/** Fetches many new notifications with few requests (`include=payload`). The others are fetched one by one later. */
private fun SecurePushClient.showPages(listing: Listing, run: CatchUp, wake: Wake) {
    var (wanted, after) = Pair(listing.found, listing.anchor)
    while (wanted.isNotEmpty() && run.report.shown.size < limits.maxShownPerWake) {
        // The server marks no more than these as read.
        val requests = request(wanted.take(limits.maxSecretsPerPage), listing.userChanges)
        // The user has changed since the listing, or nothing can be stored now.
        if (requests.isEmpty()) return
        val (page, lost) = payloadPage(listing, after, requests, wake.deadline)
        if (page == null) return
        val last = page.entries.lastOrNull()?.id ?: return
        run.unread = page.unread
        val secrets = page.entries.mapNotNull { it.secret }
        // The server has marked all of them as read, also those that have become visible since the listing.
        val asked = requests + learnUnlisted(secrets.map { it.id }, listing.userChanges)
        for (secret in secrets) {
            val request = asked[secret.id] ?: continue
            val isRepeated = request.isRepeated || lost > 0
            val acquisition = acquire(secret, request.copy(isRepeated = isRepeated), wake.deadline)
            run.report += finish(acquisition, secret.id, wake)
        }
        wanted = wanted - secrets.map { it.id }
        if (!page.hasNext || secrets.isEmpty() || last == after) return
        after = last
    }
}

/**
 * Fetches a page with payloads.
 *
 * @param requests those that the page may have.
 * @return the page, if there is one, and the number of tries whose answer was lost.
 */
private fun SecurePushClient.payloadPage(
    listing: Listing, after: PushID?, requests: Map<PushID, FetchRequest>, deadline: Long
): Pair<InboxAnswer?, Int> {
    val query = arrayListOf("include" to "payload", "Limit" to "${limits.maxSecretsPerPage}")
    if (listing.anchor == null) query.add("Unread" to "true")
    if (after != null) query.add("After" to after.rawValue)
    val reply = connection.sendCounting(RetrievalConnection.Call("api/notifications", query = query), deadline)
    val page = try {
        InboxAnswer.read(reply.outcome.orThrow().body)
    } catch (e: SecurePushFailure) {
        null
    }
    if (reply.lost == 0) {
        val isRefused = reply.outcome !is RetrievalConnection.Outcome.Success
        // Known notifications have taken the place of those that are not on the page.
        val onPage = page?.entries?.mapNotNull { it.secret?.id }
        if (isRefused || onPage != null) forget(requests.filterKeys { onPage == null || it !in onPage })
    }
    return Pair(page, reply.lost)
}

/** Notes that the server is being asked for notifications, unless the user has changed. */
private fun SecurePushClient.request(ids: List<PushID>, userChanges: Int): Map<PushID, FetchRequest> =
    unlessLocked {
        keeper.update { state ->
            val current = if (state.userChanges > userChanges) emptyList<PushID>() else ids
            current.associate { it to state.request(it) }
        }
    } ?: emptyMap<PushID, FetchRequest>()

/** Notes the notifications that the client does not know yet. */
private fun SecurePushClient.learnUnlisted(ids: List<PushID>, userChanges: Int): Map<PushID, FetchRequest> =
    unlessLocked {
        keeper.update { state ->
            val current = if (state.userChanges > userChanges) emptyList<PushID>() else ids
            current.filter { state.ledger[it] == null }.associate { id ->
                state.ledger.learn(id, limits)
                id to state.request(id)
            }
        }
    } ?: emptyMap<PushID, FetchRequest>()

/** Fetches and shows the waiting notifications one by one. A failure that concerns all of them ends it. */
private fun SecurePushClient.showWaiting(run: CatchUp, wake: Wake) {
    val before = run.report.shown.size
    val order = unlessLocked { keeper.read().ledger.fetchOrder } ?: return
    for (id in order.filter { !isUnderWay(it) }) {
        val isFull = run.report.shown.size >= maxOf(before, limits.maxShownPerWake)
        if (isFull || Thread.currentThread().isInterrupted) return
        val acquisition = acquire(id, wake, minOf(wake.deadline, clock.uptime + limits.millisPerTry))
        if (acquisition is Acquisition.Secret && acquisition.unread != null) run.unread = acquisition.unread
        if (acquisition is Acquisition.LoggedOut) {
            run.report += prompt(waiting(), acquisition.code)
            return
        }
        val step = finish(acquisition, id, wake)
        run.report += step
        if (step.code != null && !step.code.allowsCatchUp) return
    }
}

/** Two thousand notifications. The next wake goes on. */
private const val MAX_PAGES = 10
