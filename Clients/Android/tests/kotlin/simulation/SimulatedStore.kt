package securepush.simulation

import java.util.UUID
import securepush.ClientState
import securepush.ClientStateCoding
import securepush.ClientStore
import securepush.ClientStoreException
import securepush.EnvelopeKeyRing
import securepush.EnvelopePrivateKey
import securepush.OpenedEnvelopes
import securepush.PushID
import securepush.SoftwareEnvelopeKey
import securepush.StoredCredentials

/** The device's storage. It outlives the processes. */
class SimulatedDisk {
    /** Coded, as a real store has it, so that what cannot be coded is found. */
    var state: ByteArray? = null
    var credentials: ByteArray? = null
    var envelopeKeys: ByteArray? = null
    internal val opened = OpenedEnvelopes()
    /** Whether no opened envelope can be remembered. */
    var refusesEnvelopes = false
    var hasClaimedLockedNotice = false

    /** As the interface has it: a damaged state reads as an empty one. */
    fun read(): ClientState = state?.let { ClientStateCoding.decodeState(it) } ?: ClientState()

    /** Damages the file of the state. */
    fun corrupt() {
        state = "{\"ledger\":".toByteArray()
    }
}

/** A process's way to the storage. */
class SimulatedStore(
    private val disk: SimulatedDisk, private val process: SimulatedProcess, private val faults: DeviceFaults
) : ClientStore {
    override fun read(): ClientState = process.call("read") {
        faults.store(writes = false)
        disk.read()
    }

    override fun <R> update(change: (ClientState) -> R): R = process.call("update") {
        faults.store(writes = true)
        val state = disk.read()
        val result = change(state)
        disk.state = ClientStateCoding.encode(state)
        result
    }

    override fun credentials(): StoredCredentials? = process.call("credentials") {
        faults.store(writes = false)
        disk.credentials?.let { ClientStateCoding.decodeCredentials(it) }
    }

    override fun save(credentials: StoredCredentials?) = process.call("save credentials") {
        faults.store(writes = true)
        disk.credentials = credentials?.let { ClientStateCoding.encode(it) }
    }

    override fun replace(expected: StoredCredentials?, credentials: StoredCredentials?): Boolean =
        process.call("replace credentials") {
            faults.store(writes = true)
            val isReplaced = disk.credentials?.let { ClientStateCoding.decodeCredentials(it) } == expected
            if (isReplaced) disk.credentials = credentials?.let { ClientStateCoding.encode(it) }
            isReplaced
        }

    private fun ring(): EnvelopeKeyRing = disk.envelopeKeys?.let { EnvelopeKeyRing.decode(it) } ?: EnvelopeKeyRing()

    private fun keys(): List<EnvelopePrivateKey> =
        ring().entries.map { entry -> SoftwareEnvelopeKey(checkNotNull(entry.pair)) }

    override fun envelopeKeys(): List<EnvelopePrivateKey> = process.call("keys") {
        faults.store(writes = false)
        keys()
    }

    override fun makeEnvelopeKey(date: Long): EnvelopePrivateKey = process.call("make key") {
        faults.store(writes = true)
        val ring = ring()
        val next = if (ring.isDue(date)) ring.with(EnvelopeKeyRing.softwareEntry(date), date) else ring.current(date)
        disk.envelopeKeys = next.encode()
        keys().first()
    }

    override fun removeEnvelopeKeys() = process.call("remove keys") {
        faults.store(writes = true)
        disk.envelopeKeys = null
    }

    override fun rememberEnvelope(id: UUID, notification: PushID, date: Long): Boolean =
        process.call("remember envelope") {
            faults.store(writes = true)
            if (disk.refusesEnvelopes) throw ClientStoreException(ClientStoreException.Reason.UNWRITABLE)
            disk.opened.remember(id, notification, date)
        }

    override fun claimLockedNotice(): Boolean = process.call("claim locked notice") {
        val isFirst = !disk.hasClaimedLockedNotice
        disk.hasClaimedLockedNotice = true
        isFirst
    }
}
