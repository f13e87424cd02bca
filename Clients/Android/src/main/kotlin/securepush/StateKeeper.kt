package securepush

/**
 * Reads and changes the client's state, also while the store cannot be written.
 *
 * A full or read-only store must not keep a secret from the user. So changes that cannot be stored stay in memory, and
 * are stored with the next change that can. If the process ends before that, a secret may be shown again.
 */
internal class StateKeeper(private val store: ClientStore) {
    private val lock = Any()
    /** The state with the changes that are not stored; `null` if all are. */
    private var unsaved: ClientState? = null
    private var lastRead: ClientState? = null
    /** Whether the store could not be read, so that the user of the device is unknown. */
    @Volatile var isBlind = false
        private set

    /**
     * The state. The caller does not change it.
     *
     * @throws ClientStoreException before the first unlock. Other problems are an empty state.
     */
    fun read(): ClientState {
        val stored = try {
            store.read()
        } catch (e: Exception) {
            rethrowLocked(e)
            null
        }
        isBlind = stored == null
        synchronized(lock) {
            if (stored == null) return unsaved ?: lastRead ?: ClientState()
            val state = stored.copy()
            unsaved?.let { state.merge(it) }
            lastRead = state
            return state
        }
    }

    /**
     * Changes the state.
     *
     * @throws ClientStoreException before the first unlock.
     */
    fun <R> update(change: (ClientState) -> R): R {
        val pending = synchronized(lock) { unsaved }
        try {
            val (result, state) = store.update { state ->
                if (pending != null) state.merge(pending)
                Pair(change(state), state.copy())
            }
            synchronized(lock) {
                lastRead = state
                // Changes that came in between stay for the next time.
                if (unsaved == pending) unsaved = null
            }
            return result
        } catch (e: Exception) {
            rethrowLocked(e)
        }
        synchronized(lock) {
            val state = (unsaved ?: lastRead ?: ClientState()).copy()
            val result = change(state)
            unsaved = state
            return result
        }
    }

    private fun rethrowLocked(problem: Exception) {
        if (problem is ClientStoreException && problem.isLocked) throw problem
    }
}
