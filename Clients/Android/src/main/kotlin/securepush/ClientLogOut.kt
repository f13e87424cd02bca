package securepush

import java.net.URI

/**
 * The log-out, and the end of the registration.
 *
 * 1. One change of the credentials removes them, and notes what is left to do. From then on the user has left: a later
 *    wake finishes the rest if the process ends.
 * 2. The screen, the key, and the state are cleared.
 * 3. The server forgets the device and ends the session, now or at a later wake.
 */
internal fun SecurePushClient.leave(endsSession: Boolean): Boolean {
    val wake = begin(limits.millisPerTry)
    val state = stored {
        // The notifications of another user go first.
        adoptUser()
        keeper.read()
    }
    val left = Departure(
        state.owner, configuration.retrievalUrl.toString(), clock.date, state.registration.installationID
    )
    val note = note(left, endsSession)
    stored { forgetUser(left) }
    if (note == Note.REFUSED) throw SecurePushFailure(DiagnosticCode.CREDENTIALS)
    val id = left.installationID ?: return true
    try {
        // A registration that is under way would come after it.
        return registrations.take(wake.deadline) {
            if (note == Note.STORED) left.id in endEachDeparture(wake.deadline)
            else unregister(id, wake.deadline, connection).isForgotten
        }
    } catch (e: SecurePushFailure) {
        // The next wake goes on.
        hasDepartures = note == Note.STORED
        return false
    }
}

/** The first step of a log-out. */
private enum class Note {
    /** What is left to do is stored, and the credentials are gone. */
    STORED,
    /** It is not stored, and the credentials are gone, or were to stay. */
    LOST,
    /** The credentials are still there. */
    REFUSED
}

/**
 * Notes what is left to do, and removes the credentials.
 *
 * @throws SecurePushFailure before the first unlock.
 */
private fun SecurePushClient.note(left: Departure, endsSession: Boolean): Note {
    val provider = credentials as? TokenCredentialsProvider
    try {
        if (endsSession && provider != null) {
            provider.endSession(left)
            return if (departures().any { it.id == left.id }) Note.STORED else Note.LOST
        }
        store.changeCredentials { stored ->
            val all = (stored?.departures ?: emptyList()) + left
            (stored ?: StoredCredentials.nobody).with(all)
        }
        return Note.STORED
    } catch (e: ClientStoreException) {
        if (e.isLocked) throw SecurePushFailure(DiagnosticCode.LOCKED)
        return if (endsSession && provider != null) Note.REFUSED else Note.LOST
    }
}

/**
 * Clears the screen and the state after each log-out that could not do so.
 *
 * @throws ClientStoreException before the first unlock.
 */
internal fun SecurePushClient.finishLogOuts() {
    val all = departures()
    hasDepartures = all.isNotEmpty()
    for (left in all) if (!left.isForgotten) forgetUser(left)
}

/** @throws ClientStoreException before the first unlock. A store that cannot be read has none. */
private fun SecurePushClient.departures(): List<Departure> = try {
    store.credentials()?.departures ?: emptyList()
} catch (e: ClientStoreException) {
    if (e.isLocked) throw e
    emptyList()
}

/**
 * Removes the user's notifications and key. The process may end anywhere: it is done again then.
 *
 * @throws ClientStoreException before the first unlock.
 */
private fun SecurePushClient.forgetUser(left: Departure) {
    val state = keeper.read()
    var installationID = left.installationID
    // The notifications of a user who has logged in since then stay.
    if (state.owner == null || left.userName == null || state.owner == left.userName) {
        presenter.remove((state.ledger.entries.map { it.id } + presenter.displayedSecrets()).distinct())
        presenter.removePrompt()
        val isKeyGone = state.keyOwner == null || removesKey()
        val (ids, record) = keeper.update {
            val record = it.registration
            it.registration = RegistrationRecord()
            // Nobody's key is removed by the next registration.
            it.keyOwner = if (isKeyGone) null else ""
            Pair(it.forget(null), record)
        }
        // A wake may have shown something in between.
        presenter.remove((ids + presenter.displayedSecrets()).distinct())
        presenter.setBadge(0)
        installationID = installationID ?: record.installationID
    }
    try {
        store.changeDeparture(left.id) { it.copy(isForgotten = true, installationID = installationID) }
    } catch (e: ClientStoreException) {
        if (e.isLocked) throw e
    }
}

private fun SecurePushClient.removesKey(): Boolean = try {
    store.removeEnvelopeKeys()
    true
} catch (e: ClientStoreException) {
    false
}

/** Tells the server of log-outs, at the end of a wake, unless a registration is under way. It takes at most 5 s. */
internal fun SecurePushClient.endDepartures(deadline: Long) {
    if (!hasDepartures) return
    val end = minOf(deadline, clock.uptime + MILLIS_FOR_DEPARTURES)
    try {
        registrations.take(clock.uptime) { endEachDeparture(end) }
    } catch (e: SecurePushFailure) {
        // The next wake goes on.
        return
    }
}

/** @return those whose devices the server has forgotten now. */
private fun SecurePushClient.endEachDeparture(deadline: Long): Set<String> {
    val done = HashSet<String>()
    (credentials as? TokenCredentialsProvider)?.awaitRefresh(deadline - clock.uptime)
    val all = unlessLocked { departures() } ?: return done
    val userName = try {
        knownUserName()
    } catch (e: Exception) {
        null
    }
    for (left in all) if (left.isForgotten && end(left, userName, deadline, done)) remove(left)
    // The others wait for their user.
    hasDepartures = unlessLocked { departures() }
        ?.any { !it.isForgotten || it.hasToken || (userName != null && it.userName == userName) } ?: true
    return done
}

/** @return whether nothing is left to do. */
private fun SecurePushClient.end(
    left: Departure, userName: String?, deadline: Long, done: MutableSet<String>
): Boolean {
    if (left.isOver(clock.date)) return true
    val id = left.installationID
    if (!left.hasToken && (id == null || userName == null || left.userName != userName)) return id == null
    val session = LeftSession(left, store, TokenService(URI(left.baseUrl), transport, clock, threads))
    if (id != null) {
        val way = if (!left.hasToken) connection else
            RetrievalConnection(URI(left.baseUrl), limits, session, transport, clock, threads)
        val end = unregister(id, deadline, way)
        if (end.isForgotten) done.add(left.id)
        if (!end.isFinal) return false
        // After a failure only the session is left to be ended.
        unlessLocked { store.changeDeparture(left.id) { it.copy(installationID = null) } }
    }
    return session.end(deadline - clock.uptime)
}

private class Unregistration(
    /** Whether the server does not have the device any more. */
    val isForgotten: Boolean,
    /** Whether it will not answer otherwise. */
    val isFinal: Boolean
)

private fun unregister(id: String, deadline: Long, by: RetrievalConnection): Unregistration {
    val outcome = by.send(RetrievalConnection.Call("api/installations/$id", "DELETE", success = 204), deadline)
    val isForgotten = outcome is RetrievalConnection.Outcome.Success || outcome.isMissing
    // A session that has ended can do nothing any more.
    val isFinal = outcome is RetrievalConnection.Outcome.LoggedOut ||
        (outcome is RetrievalConnection.Outcome.Refused && outcome.isOwn)
    return Unregistration(isForgotten, isForgotten || isFinal)
}

private fun SecurePushClient.remove(left: Departure) {
    unlessLocked { store.changeDeparture(left.id) { null } }
}

/** The session of a user who has logged out, for the requests of the log-out. */
private class LeftSession(
    private val left: Departure, private val store: ClientStore, private val service: TokenService
) : CredentialsProvider {
    override fun userName(): String? = left.userName

    override fun credentials(): ClientCredentials? =
        current().let { now -> now.accessToken?.let { ClientCredentials.bearer(it) } ?: refreshed(now) }

    override fun refresh(refused: ClientCredentials): ClientCredentials? = refreshed(current())

    /** As it is stored now. Somebody else may have refreshed it. */
    private fun current(): Departure =
        store.credentials()?.departures?.find { it.id == left.id } ?: left

    private fun refreshed(now: Departure): ClientCredentials? {
        val used = now.refreshToken ?: return null
        val renewed = service.refresh(used, now.userName ?: "") ?: return null
        store.changeCredentials { it?.renewDepartures(used, renewed) }
        return renewed.current
    }

    /**
     * Ends the session, unless another departure needs it.
     *
     * @return whether that is done.
     */
    fun end(millis: Long): Boolean = try {
        val token = current().refreshToken
        val others = store.credentials()?.departures?.filter { it.id != left.id } ?: emptyList()
        token == null || others.any { it.refreshToken == token } || service.end(token, millis)
    } catch (e: ClientStoreException) {
        false
    } catch (e: InterruptedException) {
        Thread.currentThread().interrupt()
        false
    }
}

/** It is never worth more time than this. */
private const val MILLIS_FOR_DEPARTURES = 5_000L
