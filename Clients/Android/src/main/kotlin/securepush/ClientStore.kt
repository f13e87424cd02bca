package securepush

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

    /** Reads the device's key for end-to-end encryption; `null` if there is none, or if it is lost. */
    @Throws(ClientStoreException::class)
    fun envelopeKey(): EnvelopePrivateKey?

    /** Makes and stores the device's key for end-to-end encryption, unless there is one. Returns the stored key. */
    @Throws(ClientStoreException::class)
    fun makeEnvelopeKey(): EnvelopePrivateKey

    /** Removes the device's key. What was encrypted for it can never be read again. */
    @Throws(ClientStoreException::class)
    fun removeEnvelopeKey()

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

/** Credentials as they are stored. Their `toString` does not show them. */
class StoredCredentials @JvmOverloads constructor(
    /** The user. */
    val userName: String,
    /** The token for requests; `null` if there is none, or if the server has refused it. */
    val accessToken: String? = null,
    /** When the token expires, in milliseconds since 1970; `null` if that is not known. */
    val expiresAt: Long? = null,
    /** The single-use token for the next access token. */
    val refreshToken: String? = null,
    /** The password, only for a server that issues no tokens. */
    val password: String? = null
) {
    private val parts: List<Any?> get() = listOf(userName, accessToken, expiresAt, refreshToken, password)

    override fun equals(other: Any?): Boolean = other is StoredCredentials && other.parts == parts

    override fun hashCode(): Int = parts.hashCode()

    override fun toString(): String = "credentials of a user"

    /** The credentials for requests; `null` if the user has to log in or the token has to be refreshed. */
    internal val current: ClientCredentials?
        get() = accessToken?.let { ClientCredentials.bearer(it) }
            ?: password?.let { ClientCredentials.basic(userName, it) }

    /** Whether there are credentials that have not expired. Half a minute before its end a token counts as expired. */
    internal fun isUsable(date: Long): Boolean =
        current != null && (expiresAt == null || refreshToken == null || date < expiresAt - 30_000)
}

/** A store that forgets everything at the end of the process, for tools and tests. */
class MemoryClientStore : ClientStore {
    private var state = ClientState()
    private var stored: StoredCredentials? = null
    private var key: EnvelopePrivateKey? = null
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
    override fun envelopeKey(): EnvelopePrivateKey? = key

    @Synchronized
    override fun makeEnvelopeKey(): EnvelopePrivateKey = key ?: SoftwareEnvelopeKey.generate().also { key = it }

    @Synchronized
    override fun removeEnvelopeKey() {
        key = null
    }

    @Synchronized
    override fun claimLockedNotice(): Boolean {
        val isFirst = !hasNoticed
        hasNoticed = true
        return isFirst
    }
}
