package securepush

import java.util.Collections
import java.util.UUID
import java.util.WeakHashMap

/**
 * A store whose calls end: one that takes too long, or throws anything, is as one that cannot be read or written. So a
 * wake goes on without the store, and shows the secret.
 */
internal class BoundedStore(private val store: ClientStore, clock: ClientClock, threads: ClientThreads) : ClientStore {
    private val limit = limits.getOrPut(store) { CallLimit(clock, threads) }

    override fun read(): ClientState = bound(ClientStoreException.Reason.UNREADABLE) { store.read() }

    override fun <R> update(change: (ClientState) -> R): R =
        bound(ClientStoreException.Reason.UNWRITABLE) { store.update(change) }

    override fun credentials(): StoredCredentials? =
        bound(ClientStoreException.Reason.UNREADABLE) { store.credentials() }

    override fun save(credentials: StoredCredentials?) =
        bound(ClientStoreException.Reason.UNWRITABLE) { store.save(credentials) }

    override fun replace(expected: StoredCredentials?, credentials: StoredCredentials?): Boolean =
        bound(ClientStoreException.Reason.UNWRITABLE) { store.replace(expected, credentials) }

    override fun envelopeKeys(): List<EnvelopePrivateKey> =
        bound(ClientStoreException.Reason.UNREADABLE) { store.envelopeKeys() }

    override fun makeEnvelopeKey(date: Long): EnvelopePrivateKey =
        bound(ClientStoreException.Reason.UNWRITABLE) { store.makeEnvelopeKey(date) }

    override fun removeEnvelopeKeys() = bound(ClientStoreException.Reason.UNWRITABLE) { store.removeEnvelopeKeys() }

    override fun rememberEnvelope(id: UUID, notification: PushID, date: Long): Boolean =
        bound(ClientStoreException.Reason.UNWRITABLE) { store.rememberEnvelope(id, notification, date) }

    /** Without an answer, the notice is shown once more rather than not at all. */
    override fun claimLockedNotice(): Boolean = try {
        bound(ClientStoreException.Reason.UNWRITABLE) { store.claimLockedNotice() }
    } catch (e: ClientStoreException) {
        true
    }

    private companion object {
        /** The client and the credentials use the same store, and learn of each other's calls that do not end. */
        val limits: MutableMap<ClientStore, CallLimit> = Collections.synchronizedMap(WeakHashMap())
    }

    private fun <R> bound(otherwise: ClientStoreException.Reason, work: () -> R): R = try {
        limit.run(work)
    } catch (e: ClientStoreException) {
        throw e
    } catch (e: Exception) {
        throw ClientStoreException(otherwise)
    }
}
