package securepush

/** The new notifications of the inbox. They are stored as waiting. */
private class Listing(
    /**
     * The notification after which the new ones come; `null` for the first listing of this device, which is of unread
     * notifications only.
     */
    val anchor: PushID?
) {
    var found: List<PushID> = emptyList()
    var unread = 0
}

/** How far a catch-up has come. */
private class CatchUp(var unread: Int) {
    var report = WakeReport()
}

/** Fetches what is in the inbox and what waits, and shows it. */
internal fun SecurePushClient.runCatchUp(deadline: Long): WakeReport {
    resolveDoubts()
    resolveQuestions(deadline)
    val inbox = try {
        list(deadline)
    } catch (e: SecurePushFailure) {
        // What waits is not lost; the next wake tries again.
        val waiting = if (e.code.asksForLogIn) waiting() else emptyList()
        return if (waiting.isEmpty()) WakeReport.failed(e.code) else prompt(waiting, e.code)
    }
    val run = CatchUp(inbox.unread)
    if (inbox.found.size > 1) showPages(inbox, run, deadline)
    if (run.report.code == null) showWaiting(run, deadline)
    if (run.report.code == null && outwaitClaims(deadline)) showWaiting(run, deadline)
    presenter.setBadge(run.unread)
    return run.report
}

/**
 * Waits until the claims of other processes have expired, and finds out how they ended.
 *
 * @return whether there were any, and there was time for them.
 */
private fun SecurePushClient.outwaitClaims(deadline: Long): Boolean {
    val now = clock.date
    val millis = unlessLocked { keeper.read().ledger.millisOfClaims(process, now, limits) ?: -1 } ?: -1
    if (millis < 0 || clock.uptime + millis >= deadline) return false
    try {
        clock.sleep(millis)
    } catch (e: InterruptedException) {
        Thread.currentThread().interrupt()
        return false
    }
    resolveDoubts()
    return true
}

/**
 * Lists the inbox after the last seen notification, without payloads: nothing is marked as read before it is stored as
 * waiting.
 *
 * @throws SecurePushFailure
 */
private fun SecurePushClient.list(deadline: Long): Listing {
    val cursor = (unlessLocked { keeper.read() } ?: throw SecurePushFailure(DiagnosticCode.LOCKED)).cursor
    val listing = Listing(cursor)
    listPages(listing, cursor, cursor == null, deadline)
    // A delayed notification (`NotBefore`) is older than the last seen one. It is unread, and not known here.
    if (cursor != null && listing.unread > waiting().size) listPages(listing, null, true, deadline)
    return listing
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
        val (new, waiting) = learn(ids, !isUnreadOnly || listing.anchor == null)
        listing.found = listing.found + new.filter { it !in listing.found }
        // The rest comes at the next wake, so that nothing that waits is forgotten.
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
 * @return the new ones, and how many wait.
 */
private fun SecurePushClient.learn(ids: List<PushID>, movesCursor: Boolean): Pair<List<PushID>, Int> {
    val now = clock.date
    return unlessLocked {
        keeper.update { state ->
            val known = state.ledger.entries.mapTo(HashSet()) { it.id }
            for (id in ids) state.ledger.learn(id, now, limits)
            if (movesCursor) state.cursor = ids.lastOrNull() ?: state.cursor ?: state.ledger.lastShown
            Pair(ids.filter { it !in known }, state.ledger.waiting.size)
        }
    } ?: Pair(emptyList(), 0)
}

private fun SecurePushClient.page(query: List<Pair<String, String>>, deadline: Long): InboxAnswer {
    val outcome = connection.send(RetrievalConnection.Call("api/notifications", query = query), deadline)
    if (outcome !is RetrievalConnection.Outcome.Success) throw outcome.failure
    try {
        return InboxAnswer.read(outcome.response.body)
    } catch (e: AnswerFault) {
        throw SecurePushFailure(e.code)
    }
}

/**
 * Fetches many new notifications with few requests (`include=payload`). What does not come in this way is fetched one
 * by one.
 */
private fun SecurePushClient.showPages(listing: Listing, run: CatchUp, deadline: Long) {
    val new = unlessLocked {
        keeper.update { state -> listing.found.filterTo(HashSet()) { !state.ledger.ask(it) } }
    } ?: HashSet<PushID>()
    val missing = listing.found.toMutableSet()
    var after = listing.anchor
    while (missing.isNotEmpty() && run.report.shown.size < limits.maxShownPerWake) {
        val query = arrayListOf("include" to "payload", "Limit" to "${limits.maxSecretsPerPage}")
        if (listing.anchor == null) query.add("Unread" to "true")
        if (after != null) query.add("After" to after.rawValue)
        val page = try {
            page(query, deadline)
        } catch (e: SecurePushFailure) {
            return
        }
        val last = page.entries.lastOrNull()?.id ?: return
        run.unread = page.unread
        for (secret in page.entries.mapNotNull { it.secret }) {
            if (missing.remove(secret.id) && enter(secret.id)) {
                val acquisition = claim(secret, null, secret.id !in new)
                if (acquisition !is Acquisition.Secret) leave(secret.id)
                run.report += finish(acquisition, secret.id)
            }
        }
        if (!page.hasNext || page.entries.none { it.secret != null } || last == after) return
        after = last
    }
}

/** Fetches and shows what waits, one by one, until something fails for all. */
private fun SecurePushClient.showWaiting(run: CatchUp, deadline: Long) {
    val before = run.report.shown.size
    val order = unlessLocked { keeper.read().ledger.fetchOrder } ?: return
    for (id in order.filter { !isUnderWay(it) }) {
        val isOver = clock.uptime >= deadline || Thread.currentThread().isInterrupted
        if (run.report.shown.size >= maxOf(before, limits.maxShownPerWake) || isOver) return
        val acquisition = acquire(id, minOf(deadline, clock.uptime + limits.millisPerTry))
        if (acquisition is Acquisition.Secret && acquisition.unread != null) run.unread = acquisition.unread
        if (acquisition is Acquisition.LoggedOut) {
            run.report += prompt(waiting(), acquisition.code)
            return
        }
        val step = finish(acquisition, id)
        run.report += step
        if (step.code != null && !step.code.allowsCatchUp) return
    }
}

/** Two thousand notifications. The next wake goes on. */
private const val MAX_PAGES = 10
