package securepush

/** The result of fetching a secret and claiming the right to show it. */
internal sealed class Acquisition {
    /** The caller shows it and then calls [settle]. */
    class Secret(val secret: SecretNotification, val unread: Int?) : Acquisition()
    /** It was shown or withdrawn, or somebody else is about to show it. */
    object Settled : Acquisition()
    /** It cannot be had now; never, if it has an end. */
    class Failed(val code: DiagnosticCode, val end: SecretLedger.Progress? = null) : Acquisition()
    /** The user has to log in. */
    class LoggedOut(val code: DiagnosticCode) : Acquisition()
    /** The credentials cannot be read before the first unlock. */
    object Locked : Acquisition()
}

/** Fetches a notification of a push and shows it, or the generic text, or the prompt. */
internal fun SecurePushClient.fetchAndShow(id: PushID, wake: Wake): WakeReport {
    val acquisition = acquire(id, wake.deadline)
    if (acquisition is Acquisition.Secret && acquisition.unread != null) presenter.setBadge(acquisition.unread)
    return finish(acquisition, id)
}

/** Fetches a secret and claims it. */
internal fun SecurePushClient.acquire(id: PushID, deadline: Long): Acquisition {
    if (!enter(id)) return Acquisition.Settled
    var isClaimed = false
    try {
        val wasAsked = unlessLocked { keeper.update { it.ledger.ask(id) } } ?: true
        val call = RetrievalConnection.Call("api/notifications/$id", query = listOf("include" to "unread"))
        val reply = connection.sendCounting(call, deadline)
        val outcome = reply.outcome
        val acquisition = when (outcome) {
            is RetrievalConnection.Outcome.Success -> {
                val answer = try {
                    SecretAnswer.read(outcome.response.body, id)
                } catch (e: AnswerFault) {
                    return Acquisition.Failed(e.code)
                }
                claim(answer.secret, answer.unread, wasAsked || reply.tries > 1)
            }
            is RetrievalConnection.Outcome.Refused -> Acquisition.Failed(
                DiagnosticCode.status(outcome.status),
                if (isGone(outcome.status)) SecretLedger.Progress.GONE else null
            )
            is RetrievalConnection.Outcome.Failed -> Acquisition.Failed(outcome.code)
            is RetrievalConnection.Outcome.LoggedOut -> Acquisition.LoggedOut(outcome.code)
            is RetrievalConnection.Outcome.Locked -> Acquisition.Locked
        }
        isClaimed = acquisition is Acquisition.Secret
        return acquisition
    } finally {
        if (!isClaimed) leave(id)
    }
}

/** Opens and claims a secret that this thread has entered. If it is not granted, the caller leaves. */
internal fun SecurePushClient.claim(sealed: SecretNotification, unread: Int?, wasAsked: Boolean): Acquisition {
    val secret = try {
        open(sealed)
    } catch (e: Envelope.Unopened) {
        return Acquisition.Failed(e.code, SecretLedger.Progress.UNREADABLE)
    } catch (e: ClientStoreException) {
        // The key cannot be read now.
        val isLocked = e.reason == ClientStoreException.Reason.LOCKED
        return if (isLocked) Acquisition.Locked else Acquisition.Failed(DiagnosticCode.NO_KEY)
    }
    while (true) {
        val now = clock.date
        val claim = unlessLocked { keeper.update { it.claim(secret, wasAsked, process, now, limits) } }
        if (claim == SecretLedger.Claim.IN_DOUBT) {
            resolveDoubts()
        } else {
            return when (claim) {
                null -> Acquisition.Locked
                SecretLedger.Claim.GRANTED -> Acquisition.Secret(secret, unread)
                else -> Acquisition.Settled
            }
        }
    }
}

/** Opens a secret, if it is encrypted end to end. */
private fun SecurePushClient.open(secret: SecretNotification): SecretNotification {
    if (!Envelope.isEnvelope(secret.json.toByteArray())) return secret
    val key = store.envelopeKey()
    val state = keeper.read()
    return Envelope.open(secret, state.owner ?: "", state.registration.installationID, key)
}

/** Notes that a claimed secret was shown, or that it waits for the next wake. */
internal fun SecurePushClient.settle(id: PushID, isShown: Boolean) {
    val now = clock.date
    val end = unlessLocked {
        keeper.update { state ->
            val end = state.ledger.settle(id, process, isShown, now)
            if (isShown) state.report(id)
            end
        }
    }
    leave(id)
    // It was withdrawn while it was shown.
    if (end == SecretLedger.End.WITHDRAWN) presenter.remove(listOf(id))
}

/** Shows a secret by the presenter, or what is shown in place of it. */
internal fun SecurePushClient.finish(acquisition: Acquisition, id: PushID): WakeReport = when (acquisition) {
    is Acquisition.Settled -> WakeReport()
    is Acquisition.Secret -> show(acquisition.secret)
    is Acquisition.Failed -> notice(id, acquisition.code, acquisition.end)
    is Acquisition.LoggedOut -> prompt(listOf(id), acquisition.code)
    is Acquisition.Locked -> showLockedNotice()
}

private fun SecurePushClient.show(secret: SecretNotification): WakeReport {
    try {
        presenter.show(secret)
    } catch (e: Exception) {
        settle(secret.id, isShown = false)
        return notice(secret.id, DiagnosticCode.NOT_PRESENTED, null)
    }
    settle(secret.id, isShown = true)
    return WakeReport(WakeReport.Result.NEW_DATA, shown = listOf(secret.id))
}

/** Shows the generic text, once per notification. */
private fun SecurePushClient.notice(id: PushID, code: DiagnosticCode, end: SecretLedger.Progress?): WakeReport {
    val isFirst = unlessLocked { keeper.update { it.ledger.notice(id, end) } } ?: true
    val isSilent = end == SecretLedger.Progress.GONE && !configuration.showsNoticeWhenGone
    if (isFirst && !isSilent) presenter.show(GenericNotice(id, GenericNotice.Kind.GENERIC, code))
    return WakeReport(WakeReport.Result.FAILED, waiting = if (end == null) listOf(id) else emptyList(), code = code)
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
