package securepush

import java.net.URI
import java.util.UUID
import java.util.concurrent.atomic.AtomicReference

/**
 * Credentials from `POST /api/token`: a token for the user's password, renewed with its refresh token where the server
 * gives one (`AUTH_REFRESH_TTL`).
 *
 * They are kept in the store, which all processes of the app share. Only one of them refreshes at a time, because a
 * refresh token that is used twice ends the session (RFC 9700, section 4.14).
 *
 * @param retrievalUrl as in [SecurePushConfiguration].
 * @param store the client's store.
 * @param transport the client's transport.
 */
class TokenCredentialsProvider @JvmOverloads constructor(
    retrievalUrl: URI,
    store: ClientStore,
    transport: Transport,
    private val clock: ClientClock = SystemClientClock(),
    internal val threads: ClientThreads = SystemClientThreads()
) : CredentialsProvider {
    private val store: ClientStore = BoundedStore(store, clock, threads)
    private val service = TokenService(retrievalUrl, transport, clock, threads)
    private val baseUrl = retrievalUrl.toString()
    private val process = UUID.randomUUID().toString()
    private val lock = Any()
    private var refreshing: Exchange? = null

    /**
     * Logs a user in with a password. The password is stored only if the server issues no tokens.
     *
     * @throws SecurePushFailure with `SP-401` for a wrong password.
     * @throws ClientStoreException if the credentials cannot be stored.
     */
    @Throws(SecurePushFailure::class, ClientStoreException::class, InterruptedException::class)
    fun logIn(userName: String, password: String) = save(service.logIn(userName, password))

    /**
     * Logs a user in with a token of an identity provider.
     *
     * @param expiresAt when the token expires, in milliseconds since 1970, if that is known.
     * @throws ClientStoreException if the credentials cannot be stored.
     */
    @JvmOverloads
    @Throws(ClientStoreException::class)
    fun logInWithToken(userName: String, token: String, expiresAt: Long? = null) =
        save(StoredCredentials(userName, token, expiresAt))

    /** A log-in does not wait for what the last log-out has left to do. */
    private fun save(session: StoredCredentials) {
        try {
            store.changeCredentials { session.with(it?.departures ?: emptyList()) }
        } catch (e: ClientStoreException) {
            if (e.isLocked) throw e
            // Credentials that cannot be read any more are replaced.
            store.save(session)
        }
    }

    /**
     * Forgets the user, and ends the session at the server if it can be reached, or else later.
     *
     * [SecurePushClient.logOut] does this and the rest of a log-out in one step. Without it, the next call of the
     * client removes the user's notifications and key, and has the server forget the device.
     *
     * @throws ClientStoreException if the credentials cannot be removed.
     */
    @Throws(ClientStoreException::class, InterruptedException::class)
    fun logOut() {
        val installationID = try {
            store.read().registration.installationID
        } catch (e: ClientStoreException) {
            null
        }
        val left = Departure(null, baseUrl, clock.date, installationID)
        val token = endSession(left)?.takeIf { installationID == null }
        if (token == null || !service.end(token)) return
        store.changeDeparture(left.id) { it.copy(accessToken = null, refreshToken = null) }
    }

    /**
     * Removes the user and the tokens, and notes what is left to do, in one step.
     *
     * @param left what is left to do. It gets the user and the tokens.
     * @return the refresh token.
     * @throws ClientStoreException if the credentials are still there.
     */
    internal fun endSession(left: Departure): String? {
        var token: String? = null
        try {
            store.changeCredentials { stored ->
                token = stored?.refreshToken
                val userName = stored?.userName ?: left.userName
                fun withTokens(of: Departure) = of.copy(
                    userName = userName, accessToken = stored?.accessToken, refreshToken = stored?.refreshToken
                )
                // Those of an earlier `unregister` would have used the session.
                val earlier = (stored?.departures ?: emptyList())
                    .map { if (it.hasToken || it.userName != userName) it else withTokens(it) }
                StoredCredentials.nobody.with(earlier + withTokens(left))
            }
        } catch (e: ClientStoreException) {
            if (e.isLocked) throw e
            // A full store still removes them.
            store.save(null)
        }
        return token
    }

    /** Waits until no refresh is under way, at most for a time in milliseconds. */
    internal fun awaitRefresh(millis: Long) {
        synchronized(lock) { refreshing }?.done?.await(maxOf(0, millis))
    }

    override fun userName(): String? = try {
        storedUserName()
    } catch (e: ClientStoreException) {
        null
    }

    /** As [userName], but a store that cannot be read now is no `null`. */
    internal fun storedUserName(): String? = store.credentials()?.userName

    override fun credentials(): ClientCredentials? {
        val stored = store.credentials() ?: return null
        if (stored.isUsable(clock.date)) return stored.current
        if (stored.refreshToken == null) return null
        return shareRefresh(stored.current)
    }

    override fun refresh(refused: ClientCredentials): ClientCredentials? = shareRefresh(refused)

    /** One exchange for all who wait. */
    private class Exchange(val done: ClientSignal) {
        val ending = AtomicReference<Result<ClientCredentials?>>()
    }

    /** The exchange has its own thread: a late answer still has the next token. */
    private fun shareRefresh(refused: ClientCredentials?): ClientCredentials? {
        val exchange = synchronized(lock) { refreshing ?: startRefresh(refused).also { refreshing = it } }
        if (!exchange.done.await(LONGEST_EXCHANGE)) throw TransportException(TransportException.Reason.TIMED_OUT)
        return exchange.ending.get().getOrThrow()
    }

    private fun startRefresh(refused: ClientCredentials?): Exchange {
        val exchange = Exchange(threads.newSignal())
        threads.start {
            exchange.ending.set(runCatching { exchange(refused) })
            synchronized(lock) { if (refreshing === exchange) refreshing = null }
            exchange.done.set()
        }
        return exchange
    }

    /** Exchanges the refresh token, unless another process has done so. */
    private fun exchange(refused: ClientCredentials?): ClientCredentials? {
        takeLease()
        try {
            return exchangeWithLease(refused)
        } finally {
            endLease()
        }
    }

    private fun exchangeWithLease(refused: ClientCredentials?): ClientCredentials? {
        val stored = store.credentials() ?: return null
        val userName = stored.userName ?: return null
        val current = stored.current
        if (current != null && current != refused && stored.isUsable(clock.date)) return current
        val renewed = stored.refreshToken?.let { service.refresh(it, userName) }
        var isLost = false
        store.changeCredentials { now ->
            isLost = now == null || !now.hasSession(stored)
            // The server refuses the stored credentials for good. The name stays for the prompt.
            if (now == null || isLost) now else (renewed ?: StoredCredentials(userName)).with(now.departures)
        }
        if (!isLost) return renewed?.current
        // The user has logged out, or another one has logged in. The next try finds the new credentials.
        if (renewed != null) handOver(stored.refreshToken, renewed)
        throw SecurePushFailure(DiagnosticCode.CREDENTIALS)
    }

    /** Gives the tokens that came after a log-out to what it has left to do, or else ends the session. */
    private fun handOver(used: String, renewed: StoredCredentials) {
        var isWanted = false
        store.changeCredentials { stored ->
            isWanted = stored != null && stored.departures.any { it.refreshToken == used }
            stored?.renewDepartures(used, renewed)
        }
        if (!isWanted) renewed.refreshToken?.let { service.end(it) }
    }

    private fun takeLease() {
        while (true) {
            val isTaken = store.update { state ->
                val now = clock.uptime
                val lease = state.refreshLease
                val isHeld = lease != null && lease.process != process && now - lease.takenAt in 0 until LEASE_MILLIS
                if (!isHeld) state.refreshLease = RefreshLease(process, now)
                !isHeld
            }
            if (isTaken) return
            clock.sleep(LEASE_PAUSE)
        }
    }

    /** If the store refuses, the lease expires. */
    private fun endLease() {
        try {
            store.update { state -> if (state.refreshLease?.process == process) state.refreshLease = null }
        } catch (e: ClientStoreException) {
            return
        }
    }

    private companion object {
        /** Longer than an exchange, whose time-out is 8 s. */
        const val LEASE_MILLIS = 10_000L
        const val LEASE_PAUSE = 250L
        /** The wait for another process and the exchange. */
        const val LONGEST_EXCHANGE = 60_000L
    }
}
