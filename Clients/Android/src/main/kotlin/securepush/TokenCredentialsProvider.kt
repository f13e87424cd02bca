package securepush

import java.net.URI
import java.util.UUID

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
    private val threads: ClientThreads = SystemClientThreads()
) : CredentialsProvider {
    private val store: ClientStore = BoundedStore(store, clock, threads)
    private val service = TokenService(retrievalUrl, transport, clock, threads)
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
    fun logIn(userName: String, password: String) = store.save(service.logIn(userName, password))

    /**
     * Logs a user in with a token of an identity provider.
     *
     * @param expiresAt when the token expires, in milliseconds since 1970, if that is known.
     * @throws ClientStoreException if the credentials cannot be stored.
     */
    @JvmOverloads
    @Throws(ClientStoreException::class)
    fun logInWithToken(userName: String, token: String, expiresAt: Long? = null) =
        store.save(StoredCredentials(userName, token, expiresAt))

    /**
     * Forgets the user, and ends the session at the server if it can be reached. Call [SecurePushClient.unregister]
     * before.
     *
     * @throws ClientStoreException if the credentials cannot be removed.
     */
    @Throws(ClientStoreException::class, InterruptedException::class)
    fun logOut() {
        val token = try {
            store.credentials()?.refreshToken
        } catch (e: ClientStoreException) {
            null
        }
        store.save(null as StoredCredentials?)
        if (token != null) service.end(token)
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
        @Volatile var result: ClientCredentials? = null
        @Volatile var failure: Throwable? = null
    }

    /** The exchange has a thread of its own: an answer that nobody waits for any more still has the next token. */
    private fun shareRefresh(refused: ClientCredentials?): ClientCredentials? {
        val exchange = synchronized(lock) { refreshing ?: startRefresh(refused).also { refreshing = it } }
        if (!exchange.done.await(LONGEST_EXCHANGE)) throw TransportException(TransportException.Reason.TIMED_OUT)
        exchange.failure?.let { throw it }
        return exchange.result
    }

    private fun startRefresh(refused: ClientCredentials?): Exchange {
        val exchange = Exchange(threads.newSignal())
        threads.start {
            try {
                exchange.result = exchange(refused)
            } catch (e: Throwable) {
                exchange.failure = e
            } finally {
                synchronized(lock) { if (refreshing === exchange) refreshing = null }
                exchange.done.set()
            }
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
        val current = stored.current
        if (current != null && current != refused && stored.isUsable(clock.date)) return current
        val renewed = stored.refreshToken?.let { service.refresh(it, stored.userName) }
        // The user may have logged out, or another one may have logged in. The next try finds the new credentials.
        if (store.credentials() != stored) {
            renewed?.refreshToken?.let { service.end(it) }
            throw SecurePushFailure(DiagnosticCode.CREDENTIALS)
        }
        // The server refuses the stored credentials for good. The name stays for the prompt.
        store.save(renewed ?: StoredCredentials(stored.userName))
        return renewed?.current
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
