package securepush

import java.util.UUID

/**
 * Where the client keeps its state between wakes. All processes of an app share one.
 *
 * `AndroidClientStore` is the one for Android; [FileClientStore] keeps everything in files; [MemoryClientStore] forgets
 * everything at the end of the process. All functions can be called on many threads at once.
 */
interface ClientStore {
    /** Reads the state: an empty one if there is none, or if it was damaged. The caller does not change it. */
    @Throws(ClientStoreException::class)
    fun read(): ClientState

    /**
     * Changes the state. It is atomic: nobody else sees half of it or changes it in between, and after a crash it has
     * happened or not.
     *
     * @param change changes the state that it gets; it may run more than once, so it has no other effect.
     * @throws ClientStoreException if nothing has changed.
     */
    @Throws(ClientStoreException::class)
    fun <R> update(change: (ClientState) -> R): R

    /** Reads the credentials; `null` if there are none, or if they cannot be decrypted any more. */
    @Throws(ClientStoreException::class)
    fun credentials(): StoredCredentials?

    /** Replaces the credentials; `null` removes them. */
    @Throws(ClientStoreException::class)
    fun save(credentials: StoredCredentials?)

    /**
     * Replaces the credentials if they are still the expected ones. It is atomic like [update]: a refresh that ends
     * after a log-out does not bring the session back.
     *
     * @param expected what [credentials] has returned.
     * @param credentials the new ones; `null` removes them.
     * @return whether they were replaced.
     * @throws ClientStoreException if nothing has changed.
     */
    @Throws(ClientStoreException::class)
    fun replace(expected: StoredCredentials?, credentials: StoredCredentials?): Boolean

    /** Reads the device's keys for end-to-end encryption, newest first, without those that are lost. */
    @Throws(ClientStoreException::class)
    fun envelopeKeys(): List<EnvelopePrivateKey>

    /**
     * Makes and stores the device's key for end-to-end encryption, unless there is one that was made less than 30 days
     * ago. The former ones are kept for 90 days after that.
     *
     * @param date now, in milliseconds since 1970.
     * @return the newest key.
     */
    @Throws(ClientStoreException::class)
    fun makeEnvelopeKey(date: Long): EnvelopePrivateKey

    /** Removes all keys of the device. Messages that were encrypted for them can never be read again. */
    @Throws(ClientStoreException::class)
    fun removeEnvelopeKeys()

    /**
     * Notes that the envelope with this ID was opened as this notification, before it is shown. At least the last
     * 10,000 of the last 90 days are kept, also after a log-out.
     *
     * @param date the time to note, in milliseconds since 1970.
     * @return whether it may be opened: it was not opened before, or as the same notification.
     * @throws ClientStoreException if it is not noted.
     */
    @Throws(ClientStoreException::class)
    fun rememberEnvelope(id: UUID, notification: PushID, date: Long): Boolean

    /**
     * Claims the right to show the one notice of this boot that says that the device is locked. It works while [read]
     * throws [ClientStoreException.Reason.LOCKED].
     *
     * @return whether no earlier call since the device started has returned `true`.
     */
    fun claimLockedNotice(): Boolean
}

/** A store that cannot be used now. */
class ClientStoreException(
    /** Why. */
    val reason: Reason
) : Exception(reason.toString()) {
    internal val isLocked: Boolean get() = reason == Reason.LOCKED

    /** Why a store cannot be used now. */
    enum class Reason {
        /** The device was not unlocked since it started. */
        LOCKED,
        /** The store cannot be read. */
        UNREADABLE,
        /** The store cannot be written: it is full or read-only. */
        UNWRITABLE,
        /** Another process holds the store for too long. */
        BUSY
    }
}

/**
 * Credentials as they are stored, and what log-outs have left to do. `toString` does not show them.
 *
 * A store keeps them as one value, which [ClientStateCoding] turns into JSON and back.
 */
class StoredCredentials internal constructor(
    /** The user; `null` if nobody is logged in, and the server is still to be told of a log-out. */
    val userName: String?,
    /** The token for requests; `null` if there is none, or if the server has refused it. */
    val accessToken: String?,
    /** When the token expires, in milliseconds since 1970; `null` if that is not known. */
    val expiresAt: Long?,
    /** The single-use token for the next access token. */
    val refreshToken: String?,
    /** The password, only for a server that issues no tokens. */
    val password: String?,
    /** What log-outs have left to do, oldest first. */
    internal val departures: List<Departure>
) {
    /** The credentials of a user. */
    @JvmOverloads
    constructor(
        userName: String, accessToken: String? = null, expiresAt: Long? = null, refreshToken: String? = null,
        password: String? = null
    ) : this(userName, accessToken, expiresAt, refreshToken, password, emptyList())

    private val session: List<Any?> get() = listOf(userName, accessToken, expiresAt, refreshToken, password)

    private val parts: List<Any?> get() = session + departures

    /** Whether the user and the tokens are the same. */
    internal fun hasSession(of: StoredCredentials): Boolean = session == of.session

    /** The same session with other departures. More than a few are not kept. */
    internal fun with(departures: List<Departure>) = StoredCredentials(
        userName, accessToken, expiresAt, refreshToken, password, departures.takeLast(MAX_DEPARTURES)
    )

    override fun equals(other: Any?): Boolean = other is StoredCredentials && other.parts == parts

    override fun hashCode(): Int = parts.hashCode()

    override fun toString(): String = "credentials of a user"

    /** The credentials for requests; `null` if the user has to log in or the token has to be refreshed. */
    internal val current: ClientCredentials?
        get() = accessToken?.let { ClientCredentials.bearer(it) }
            ?: password?.let { ClientCredentials.basic(userName ?: "", it) }

    /** Whether there are credentials that have not expired. Half a minute before its end a token counts as expired. */
    internal fun isUsable(date: Long): Boolean =
        current != null && (expiresAt == null || refreshToken == null || date < expiresAt - 30_000)

    internal companion object {
        private const val MAX_DEPARTURES = 8

        /** Nobody is logged in. */
        val nobody = StoredCredentials(null, null, null, null, null, emptyList())
    }
}

/** A store that forgets everything at the end of the process, for tools and tests. */
class MemoryClientStore : ClientStore {
    private var state = ClientState()
    private var stored: StoredCredentials? = null
    private var keys = EnvelopeKeyRing()
    private val opened = OpenedEnvelopes()
    private var hasNoticed = false

    @Synchronized
    override fun read(): ClientState = state.copy()

    @Synchronized
    override fun <R> update(change: (ClientState) -> R): R {
        val next = state.copy()
        val result = change(next)
        state = next
        return result
    }

    @Synchronized
    override fun credentials(): StoredCredentials? = stored

    @Synchronized
    override fun save(credentials: StoredCredentials?) {
        stored = credentials
    }

    @Synchronized
    override fun replace(expected: StoredCredentials?, credentials: StoredCredentials?): Boolean {
        if (stored != expected) return false
        stored = credentials
        return true
    }

    @Synchronized
    override fun envelopeKeys(): List<EnvelopePrivateKey> =
        keys.entries.mapNotNull { entry -> entry.pair?.let { SoftwareEnvelopeKey(it) } }

    @Synchronized
    override fun makeEnvelopeKey(date: Long): EnvelopePrivateKey {
        keys = if (keys.isDue(date)) keys.with(EnvelopeKeyRing.softwareEntry(date), date) else keys.current(date)
        return envelopeKeys().first()
    }

    @Synchronized
    override fun removeEnvelopeKeys() {
        keys = EnvelopeKeyRing()
    }

    @Synchronized
    override fun rememberEnvelope(id: UUID, notification: PushID, date: Long): Boolean =
        opened.remember(id, notification, date)

    @Synchronized
    override fun claimLockedNotice(): Boolean {
        val isFirst = !hasNoticed
        hasNoticed = true
        return isFirst
    }
}
