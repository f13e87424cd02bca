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
    /** The signature cannot be checked, because the store with the user's name cannot be read. */
    object Unverified : Reception()
    /** The store cannot be read before the first unlock. */
    object Locked : Reception()
}

/** Verifies a push and notes its notification, before anything is asked. */
internal fun SecurePushClient.receive(push: IncomingPush, wake: Wake): Reception = unlessLocked {
    val owner = adoptUser()
    wake.userChanges = owner.userChanges
    if (owner.name == null && keeper.isBlind && configuration.pushKeys != null) {
        return@unlessLocked Reception.Unverified
    }
    val fault = fault(push, owner.name, wake)
    if (fault != null) return@unlessLocked Reception.Ignored(fault)
    val id = push.id ?: return@unlessLocked Reception.Unusable
    if (push.isWithdrawal) {
        withdraw(id)
        return@unlessLocked Reception.Withdrawn
    }
    resolveDoubts()
    val isWanted = keeper.update { it.userChanges <= owner.userChanges && it.ledger.learn(id, limits) }
    if (isWanted) Reception.Wanted(id) else Reception.Settled
} ?: Reception.Locked

/** Whether pushes are signed, so that only the server can push. */
internal val SecurePushClient.arePushesSigned: Boolean get() = configuration.pushKeys != null

/** Carries out a withdrawal. The prompt goes too, if nothing else waits behind it. */
private fun SecurePushClient.withdraw(id: PushID) {
    val (isRemoved, isPromptOver) = keeper.update { state ->
        Pair(state.withdraw(id, arePushesSigned, limits), state.endEmptyPrompt())
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
 * Notes the user who is logged in. Another user's notifications are removed from the screen, and those that have
 * expired.
 *
 * @throws ClientStoreException before the first unlock.
 */
internal fun SecurePushClient.adoptUser(): Owner {
    finishLogOuts()
    val state = keeper.read()
    val expired = if (state.ledger.hasExpired(clock.date)) keeper.update { it.ledger.takeExpired(clock.date) } else null
    if (expired != null) presenter.remove(expired)
    val userName = currentUserName()
    if (userName == null || userName == state.owner) return Owner(state.owner, state.userChanges)
    // Also before it is noted: the process may end in between.
    if (state.ledger.entries.isNotEmpty() && state.owner != null) presenter.remove(state.ledger.entries.map { it.id })
    val (strangers, userChanges) = keeper.update { Pair(it.adopt(userName), it.userChanges) }
    if (strangers.isNotEmpty()) {
        presenter.remove(strangers)
        presenter.removePrompt()
    }
    return Owner(userName, userChanges)
}

/** The user who is logged in; `null` also if that is not known now. */
private fun SecurePushClient.currentUserName(): String? = try {
    knownUserName()
} catch (e: Exception) {
    null
}

/**
 * The user who is logged in.
 *
 * @throws Exception if that is not known now.
 */
internal fun SecurePushClient.knownUserName(): String? = userNameLimit.run {
    val provider = credentials
    if (provider is TokenCredentialsProvider) provider.storedUserName() else provider.userName()
}

/** Why a push is to be ignored; `null` if it is genuine, or if pushes are not signed. */
private fun SecurePushClient.fault(push: IncomingPush, owner: String?, wake: Wake): DiagnosticCode? {
    val configured = configuration.pushKeys ?: return null
    if (owner == null) return DiagnosticCode.BAD_SIGNATURE
    // The server may have removed a configured key, because it was stolen.
    fun verifier() = PushVerifier(
        (if (configuration.refreshesPushKeys) keeper.read().pushKeys else null) ?: configured, limits.maxPushAge
    )
    val fault = verifier().fault(push, owner, clock.date)
    // The server may have a new key.
    val mayBeNew = fault == DiagnosticCode.BAD_SIGNATURE && verifier().mayBeSigned(push, clock.date)
    return if (mayBeNew && learnPushKeys(wake.deadline)) verifier().fault(push, owner, clock.date) else fault
}

/**
 * Asks the presenter for the secrets that another process was about to show when it ended: those that the user sees are
 * shown, the others are fetched again.
 */
internal fun SecurePushClient.resolveDoubts() {
    val ledger = unlessLocked { keeper.read().ledger } ?: return
    // The time after the read: a claim of the future would count as one of an earlier start of the device.
    val claims = ledger.claims(process, clock.uptime, limits)
    val doubts = claims.filter { it.millisLeft == 0L }
    if (doubts.isEmpty()) return
    val displayed = presenter.displayedSecrets()
    val withdrawn = ArrayList<PushID>()
    for (doubt in doubts) {
        val isShown = doubt.id in displayed
        val end = unlessLocked {
            keeper.update { state ->
                val end = state.ledger.settle(doubt.id, doubt.process, isShown)
                if (isShown && end == SecretLedger.End.NOTED) state.report(ShownReport(doubt.id))
                end
            }
        }
        if (end == SecretLedger.End.WITHDRAWN) withdrawn.add(doubt.id)
    }
    if (withdrawn.isNotEmpty()) presenter.remove(withdrawn)
}

/**
 * Asks the server for the notifications that were withdrawn after this device may have been the first to read them.
 * Those that are gone are removed from the screen. The others were withdrawn from the user's other devices only: they
 * stay on the screen, or are still fetched.
 *
 * Those that are being fetched now are left to the fetch, whose answer says who has read them.
 *
 * Only one wake at a time does this. After a failure the next wake goes on.
 */
internal fun SecurePushClient.confirmWithdrawals(deadline: Long) {
    if (!isConfirming.compareAndSet(false, true)) return
    try {
        // A store that cannot be written keeps an ID, so it is asked for once.
        val asked = HashSet<PushID>()
        while (true) {
            val ids = unlessLocked { keeper.read() }?.unconfirmed ?: return
            val id = ids.find { it !in asked && !isUnderWay(it) } ?: return
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
    when {
        outcome is RetrievalConnection.Outcome.Success ->
            unlessLocked { keeper.update { state -> state.unconfirmed = state.unconfirmed - id } }
        outcome is RetrievalConnection.Outcome.Refused && isGone(outcome.status) -> endWithdrawn(id)
        else -> {
            // The withdrawal is unsigned, and its notification unknown.
            unlessLocked {
                keeper.update { state ->
                    if (!arePushesSigned && state.ledger[id] == null) state.unconfirmed = state.unconfirmed - id
                }
            }
            return false
        }
    }
    return true
}

/**
 * Ends a notification whose withdrawal the server has confirmed.
 *
 * @return whether there was a withdrawal to confirm.
 */
internal fun SecurePushClient.endWithdrawn(id: PushID): Boolean {
    val (isEnded, isPromptOver) = unlessLocked {
        keeper.update { state ->
            val isEnded = id in state.unconfirmed
            if (isEnded) state.endWithdrawn(id, limits)
            Pair(isEnded, isEnded && state.endEmptyPrompt())
        }
    } ?: return false
    if (isEnded) presenter.remove(listOf(id))
    if (isPromptOver) presenter.removePrompt()
    return isEnded
}

/** Whether the server says that it has nothing for this user. */
internal fun isGone(status: Int): Boolean = status == 403 || status == 404 || status == 410
