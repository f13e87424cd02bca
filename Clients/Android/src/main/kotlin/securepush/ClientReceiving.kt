package securepush

/** What a push asks for. */
internal sealed class Reception {
    /** The notification is to be fetched. */
    class Wanted(val id: PushID) : Reception()
    /** It was shown or withdrawn before. */
    object Settled : Reception()
    /** The push was a withdrawal, which has been carried out. */
    object Withdrawn : Reception()
    /** The push has no ID that can be used. */
    object Unusable : Reception()
    /** The push is not genuine: nothing is asked and nothing is shown. */
    class Ignored(val code: DiagnosticCode) : Reception()
    /** The store cannot be read before the first unlock. */
    object Locked : Reception()
}

/** Verifies a push and notes its notification, before anything is asked. */
internal fun SecurePushClient.receive(push: IncomingPush, wake: Wake): Reception = unlessLocked {
    val owner = adoptUser()
    wake.userChanges = owner.userChanges
    val fault = fault(push, owner.name)
    if (fault != null) return@unlessLocked Reception.Ignored(fault)
    val id = push.id ?: return@unlessLocked Reception.Unusable
    if (push.isWithdrawal) {
        withdraw(id)
        return@unlessLocked Reception.Withdrawn
    }
    val now = clock.date
    resolveDoubts()
    if (keeper.update { it.ledger.learn(id, now, limits) }) Reception.Wanted(id) else Reception.Settled
} ?: Reception.Locked

/** Carries out a withdrawal. The prompt goes too, if nothing else waits behind it. */
private fun SecurePushClient.withdraw(id: PushID) {
    val now = clock.date
    val (isRemoved, isPromptOver) = keeper.update { state ->
        val isRemoved = state.withdraw(id, now, limits)
        val isPromptOver = state.isPrompted && state.ledger.waiting.isEmpty()
        if (isPromptOver) state.isPrompted = false
        Pair(isRemoved, isPromptOver)
    }
    if (isRemoved) presenter.remove(listOf(id))
    if (isPromptOver) presenter.removePrompt()
}

/** The user to whom the device belongs, also after the credentials have expired; `null` before the first log-in. */
internal class Owner(
    val name: String?,
    /** [ClientState.userChanges]. */
    val userChanges: Int
)

/**
 * Notes the user who is logged in. Another user's notifications are removed from the screen.
 *
 * @throws ClientStoreException before the first unlock.
 */
internal fun SecurePushClient.adoptUser(): Owner {
    val state = keeper.read()
    val userName = currentUserName()
    if (userName == null || userName == state.owner) return Owner(state.owner, state.userChanges)
    val (strangers, userChanges) = keeper.update { Pair(it.adopt(userName), it.userChanges) }
    if (strangers.isNotEmpty()) {
        presenter.remove(strangers)
        presenter.removePrompt()
    }
    return Owner(userName, userChanges)
}

/** The user who is logged in. */
internal fun SecurePushClient.currentUserName(): String? = try {
    credentials.userName()
} catch (e: Exception) {
    null
}

/** Why a push is to be ignored; `null` if it is genuine, or if pushes are not signed. */
private fun SecurePushClient.fault(push: IncomingPush, owner: String?): DiagnosticCode? {
    val configured = configuration.pushKeys ?: return null
    if (owner == null) return DiagnosticCode.BAD_SIGNATURE
    val stored = if (configuration.refreshesPushKeys) keeper.read().pushKeys else null
    for (keys in listOfNotNull(configured, stored)) {
        val fault = PushVerifier(keys, limits.maxPushAge).fault(push, owner, clock.date)
        if (fault != DiagnosticCode.BAD_SIGNATURE) return fault
    }
    return DiagnosticCode.BAD_SIGNATURE
}

/**
 * Asks the presenter for the secrets that another process was about to show when it ended: those that the user sees are
 * shown, the others are fetched again.
 */
internal fun SecurePushClient.resolveDoubts() {
    val now = clock.date
    val claims = unlessLocked { keeper.read().ledger.claims(process, now, limits) } ?: return
    val doubts = claims.filter { it.millisLeft == 0L }
    if (doubts.isEmpty()) return
    val displayed = presenter.displayedSecrets()
    val withdrawn = ArrayList<PushID>()
    for (doubt in doubts) {
        val isShown = doubt.id in displayed
        val end = unlessLocked {
            keeper.update { state ->
                val end = state.ledger.settle(doubt.id, doubt.process, isShown, now)
                if (isShown && end == SecretLedger.End.NOTED) state.report(doubt.id)
                end
            }
        }
        if (end == SecretLedger.End.WITHDRAWN) withdrawn.add(doubt.id)
    }
    if (withdrawn.isNotEmpty()) presenter.remove(withdrawn)
}

/**
 * Asks the server for the notifications that were withdrawn after this device was the first to read them. Those that
 * are gone are removed from the screen; the others were withdrawn from the user's other devices only.
 *
 * One wake does this for all wakes at the same time. A failure ends it until the next wake.
 */
internal fun SecurePushClient.confirmWithdrawals(deadline: Long) {
    if (!isConfirming.compareAndSet(false, true)) return
    try {
        // A store that cannot be written keeps an ID, so it is asked for once.
        val asked = HashSet<PushID>()
        while (true) {
            val id = unlessLocked { keeper.read() }?.unconfirmed?.find { it !in asked } ?: return
            asked.add(id)
            if (!confirmWithdrawal(id, deadline)) return
        }
    } finally {
        isConfirming.set(false)
    }
}

/** @return whether the server has said whether the notification is there. */
private fun SecurePushClient.confirmWithdrawal(id: PushID, deadline: Long): Boolean {
    // HEAD marks nothing as read and returns no secret.
    val outcome = connection.send(RetrievalConnection.Call("api/notifications/$id", "HEAD"), deadline)
    val isGone = when {
        outcome is RetrievalConnection.Outcome.Success -> false
        outcome is RetrievalConnection.Outcome.Refused && isGone(outcome.status) -> true
        else -> return false
    }
    val now = clock.date
    unlessLocked {
        keeper.update { state ->
            state.unconfirmed = state.unconfirmed - id
            if (isGone) state.ledger.withdraw(id, now, limits)
        }
    }
    if (isGone) presenter.remove(listOf(id))
    return true
}

/** Whether the server says that it has nothing for this user. */
internal fun isGone(status: Int): Boolean = status == 403 || status == 404 || status == 410
