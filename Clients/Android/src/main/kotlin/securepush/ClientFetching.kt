package securepush

/** The result of fetching a secret and claiming the right to show it. */
internal sealed class Acquisition {
    /** The caller shows it and then calls [settle]. */
    class Secret(val secret: SecretNotification, val unread: Int?) : Acquisition()
    /** It was shown or withdrawn, somebody else is about to show it, or the user has changed. */
    object Settled : Acquisition()
    /** The fetch failed; if it is gone, the client does not try again. */
    class Failed(val code: DiagnosticCode, val isGone: Boolean = false) : Acquisition()
    /** The user has to log in. */
    class LoggedOut(val code: DiagnosticCode) : Acquisition()
    /** The credentials cannot be read before the first unlock. */
    object Locked : Acquisition()
}

/** Fetches a notification of a push and shows it, or the generic text, or the prompt. */
internal fun SecurePushClient.fetchAndShow(id: PushID, wake: Wake): WakeReport {
    val acquisition = acquire(id, wake, wake.deadline)
    val report = finish(acquisition, id, wake)
    // The secret comes first: it matters more than the badge.
    if (acquisition is Acquisition.Secret && acquisition.unread != null) presenter.setBadge(acquisition.unread)
    return report
}

/** Fetches a secret and claims it. */
internal fun SecurePushClient.acquire(id: PushID, wake: Wake, deadline: Long): Acquisition {
    val acquisition = enterAnd(id) { fetch(id, wake, deadline) }
    // A failure is dropped if the user has changed.
    return if (acquisition is Acquisition.Secret || isCurrent(wake)) acquisition else Acquisition.Settled
}

/** Claims a secret that has come with others. */
internal fun SecurePushClient.acquire(
    secret: SecretNotification, request: FetchRequest, deadline: Long
): Acquisition = enterAnd(secret.id) { openAndClaim(secret, null, request, deadline) }

/** Takes a notification for this thread. A claimed secret stays taken until [settle]. */
private fun SecurePushClient.enterAnd(id: PushID, work: () -> Acquisition): Acquisition {
    if (!enter(id)) return Acquisition.Settled
    var isClaimed = false
    try {
        val acquisition = work()
        isClaimed = acquisition is Acquisition.Secret
        return acquisition
    } finally {
        if (!isClaimed) leave(id)
    }
}

private fun SecurePushClient.fetch(id: PushID, wake: Wake, deadline: Long): Acquisition {
    val request = unlessLocked { keeper.update { it.request(id) } } ?: return Acquisition.Locked
    if (request.userChanges > wake.userChanges) {
        forget(mapOf(id to request))
        return Acquisition.Settled
    }
    val call = RetrievalConnection.Call("api/notifications/$id", query = listOf("include" to "unread"))
    val reply = connection.sendCounting(call, deadline)
    val outcome = reply.outcome
    if (reply.lost == 0 && outcome !is RetrievalConnection.Outcome.Success) forget(mapOf(id to request))
    return when (outcome) {
        is RetrievalConnection.Outcome.Success -> {
            val answer = try {
                SecretAnswer.read(outcome.response.body, id)
            } catch (e: SecurePushFailure) {
                return Acquisition.Failed(e.code)
            }
            val isRepeated = request.isRepeated || reply.lost > 0
            openAndClaim(answer.secret, answer.unread, request.copy(isRepeated = isRepeated), deadline)
        }
        is RetrievalConnection.Outcome.Refused -> {
            val isGone = isGone(outcome.status)
            // This answer confirms or refutes a withdrawal that waits for the server.
            if (isGone && endWithdrawn(id)) return Acquisition.Settled
            Acquisition.Failed(DiagnosticCode.status(outcome.status), isGone)
        }
        is RetrievalConnection.Outcome.Failed -> Acquisition.Failed(outcome.code)
        is RetrievalConnection.Outcome.LoggedOut -> Acquisition.LoggedOut(outcome.code)
        is RetrievalConnection.Outcome.Locked -> Acquisition.Locked
    }
}

/** Notes that the server has marked nothing as read for requests. */
internal fun SecurePushClient.forget(requests: Map<PushID, FetchRequest>) {
    if (requests.isEmpty()) return
    unlessLocked { keeper.update { state -> for ((id, request) in requests) state.unrequest(id, request) } }
}

/** Opens a secret and claims it. */
private fun SecurePushClient.openAndClaim(
    sealed: SecretNotification, unread: Int?, request: FetchRequest, deadline: Long
): Acquisition {
    val secret = try {
        open(sealed)
    } catch (e: SecurePushFailure) {
        return close(sealed, e.code, request, deadline)
    } catch (e: ClientStoreException) {
        // The key cannot be read now.
        return if (e.isLocked) Acquisition.Locked else Acquisition.Failed(DiagnosticCode.NO_KEY)
    }
    return claim(secret, unread, request, deadline)
}

/**
 * Notes that this device has read a secret that it will never open. So the withdrawal that follows when the first of
 * the user's devices has read it does not remove the generic text of that device.
 */
private fun SecurePushClient.close(
    secret: SecretNotification, code: DiagnosticCode, request: FetchRequest, deadline: Long
): Acquisition {
    val claim = claim(secret, null, request, deadline)
    if (claim !is Acquisition.Secret) return claim
    val end = unlessLocked { keeper.update { it.ledger.settle(secret.id, process, isShown = false) } }
        ?: return Acquisition.Locked
    return if (end == SecretLedger.End.NOTED) Acquisition.Failed(code, isGone = true) else Acquisition.Settled
}

/** Claims a secret, and waits for another process that has claimed it. */
private fun SecurePushClient.claim(
    secret: SecretNotification, unread: Int?, request: FetchRequest, deadline: Long
): Acquisition {
    while (true) {
        val claim = unlessLocked {
            keeper.update { it.claim(secret, request, process, clock.uptime, arePushesSigned, limits) }
        } ?: return Acquisition.Locked
        if (claim is SecretLedger.Claim.Granted) return Acquisition.Secret(secret, unread)
        if (claim is SecretLedger.Claim.Withdrawn) presenter.remove(listOf(secret.id))
        if (claim is SecretLedger.Claim.InDoubt) {
            resolveDoubts()
            continue
        }
        // If the other process dies now, this one shows the secret.
        val millis = (claim as? SecretLedger.Claim.Held)?.millis ?: return Acquisition.Settled
        if (clock.uptime + millis >= deadline || !sleep(minOf(millis, CLAIM_PAUSE))) return Acquisition.Settled
    }
}

/** @return whether the time has passed; `false` if the thread was interrupted. */
internal fun SecurePushClient.sleep(millis: Long): Boolean = try {
    clock.sleep(millis)
    true
} catch (e: InterruptedException) {
    Thread.currentThread().interrupt()
    false
}

/**
 * Notes that a claimed secret was shown, or that it waits for the next wake.
 *
 * @param isByApp whether the app has shown it, and not the presenter.
 */
internal fun SecurePushClient.settle(
    secret: SecretNotification, isShown: Boolean, wake: Wake, isByApp: Boolean = false
) {
    val end = unlessLocked {
        keeper.update { state ->
            if (state.userChanges > wake.userChanges) return@update SecretLedger.End.WITHDRAWN
            val end = state.ledger.settle(secret.id, process, isShown)
            val isSecret = isByApp || secret.isForSystem
            if (isShown) {
                state.report(ShownReport(secret.id, isSecret))
                state.ledger.describe(secret.id, secret.expiresAt?.toEpochMilli(), !isSecret)
            }
            end
        }
    }
    leave(secret.id)
    // It was withdrawn, or the user changed, while it was shown.
    if (end == SecretLedger.End.WITHDRAWN) presenter.remove(listOf(secret.id))
}

/** Shows a secret by the presenter, or what is shown in place of it. */
internal fun SecurePushClient.finish(
    acquisition: Acquisition, id: PushID, wake: Wake
): WakeReport = when (acquisition) {
    is Acquisition.Settled -> WakeReport()
    is Acquisition.Secret -> show(acquisition.secret, wake)
    is Acquisition.Failed -> notice(id, acquisition.code, acquisition.isGone)
    is Acquisition.LoggedOut -> prompt(listOf(id), acquisition.code)
    is Acquisition.Locked -> showLockedNotice()
}

private fun SecurePushClient.show(secret: SecretNotification, wake: Wake): WakeReport {
    try {
        presenter.present(secret)
    } catch (e: Exception) {
        settle(secret, isShown = false, wake = wake)
        if (!isCurrent(wake)) return WakeReport()
        return notice(secret.id, DiagnosticCode.NOT_PRESENTED, isGone = false)
    }
    settle(secret, isShown = true, wake = wake)
    val shown = if (secret.isForSystem) listOf(secret.id) else emptyList()
    return WakeReport(WakeReport.Result.NEW_DATA, shown = shown)
}

/** Shows the generic text, once per notification. */
private fun SecurePushClient.notice(id: PushID, code: DiagnosticCode, isGone: Boolean): WakeReport {
    val isShown = !isGone || code.isOfEnvelope || configuration.showsNoticeWhenGone
    // The server notes nothing of what it does not have.
    val isReported = isShown && (!isGone || code.isOfEnvelope || code == DiagnosticCode.EXPIRED)
    val isFirst = unlessLocked {
        keeper.update { state ->
            state.ledger.notice(id, isGone).also { if (it && isReported) state.report(ShownReport(id, false, code)) }
        }
    } ?: true
    if (isFirst && isShown) presenter.show(GenericNotice(id, GenericNotice.Kind.GENERIC, code))
    return WakeReport(WakeReport.Result.FAILED, waiting = if (isGone) emptyList() else listOf(id), code = code)
}

/** Asks the user to log in, once more for each new notification. */
internal fun SecurePushClient.prompt(ids: List<PushID>, code: DiagnosticCode): WakeReport {
    val waiting = unlessLocked {
        keeper.update { state ->
            val isNews = ids.count { state.ledger.notice(it) } > 0
            state.isPrompted = true
            if (isNews) state.ledger.waiting else emptyList()
        }
    } ?: emptyList()
    if (waiting.isNotEmpty()) presenter.show(LogInPrompt(waiting, code))
    return WakeReport(WakeReport.Result.FAILED, waiting = ids, code = code)
}

/** Another process usually shows its secret at once. */
private const val CLAIM_PAUSE = 500L
