package securepush.simulation

import securepush.ClientState
import securepush.ClientStateCoding
import securepush.ClientStore
import securepush.EnvelopePrivateKey
import securepush.SoftwareEnvelopeKey
import securepush.StoredCredentials

/** The device's storage. It outlives the processes. */
class SimulatedDisk {
    /** Coded, as a real store has it, so that what cannot be coded is found. */
    var state: ByteArray? = null
    var credentials: ByteArray? = null
    var envelopeKey: ByteArray? = null
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

    override fun envelopeKey(): EnvelopePrivateKey? = process.call("key") {
        faults.store(writes = false)
        disk.envelopeKey?.let { SoftwareEnvelopeKey.of(it) }
    }

    override fun makeEnvelopeKey(): EnvelopePrivateKey = process.call("make key") {
        faults.store(writes = true)
        val bytes = disk.envelopeKey ?: SoftwareEnvelopeKey.generate().rawRepresentation
        disk.envelopeKey = bytes
        checkNotNull(SoftwareEnvelopeKey.of(bytes))
    }

    override fun removeEnvelopeKey() = process.call("remove key") {
        faults.store(writes = true)
        disk.envelopeKey = null
    }

    override fun claimLockedNotice(): Boolean = process.call("claim locked notice") {
        val isFirst = !disk.hasClaimedLockedNotice
        disk.hasClaimedLockedNotice = true
        isFirst
    }
}
