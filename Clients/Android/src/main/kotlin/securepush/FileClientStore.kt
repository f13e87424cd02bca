package securepush

import java.io.File
import java.io.IOException
import java.io.RandomAccessFile
import java.util.UUID
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.TimeUnit
import java.util.concurrent.locks.ReentrantLock

/** Encrypts what a store must keep secret. `KeystoreBox` is the one for Android. */
interface SecretBox {
    /**
     * Encrypts and authenticates.
     *
     * @throws Exception if the key cannot be used now.
     */
    @Throws(Exception::class)
    fun seal(content: ByteArray): ByteArray

    /** Decrypts what [seal] returned; `null` if that is not possible any more, because the key is lost. */
    @Throws(Exception::class)
    fun open(sealed: ByteArray): ByteArray?
}

/**
 * A store in files of one folder, which all processes of the app share.
 *
 * The files have mode 0600. A change writes a new file, flushes it and renames it, under a lock that other processes
 * see. A damaged state is put aside as `state.json.damaged`, damaged credentials are removed, and the store begins
 * anew.
 *
 * @param folder a folder of its own. It is created with mode 0700 when something is first stored.
 * @param box encrypts the credentials and the device's keys; `null`: they are not encrypted, for tools and tests.
 * @param vault keeps the device's keys, if it can; `null`: they are in a file.
 * @param bootID a text that is different after each start of the system.
 */
class FileClientStore @JvmOverloads constructor(
    private val folder: File,
    private val box: SecretBox? = null,
    private val vault: EnvelopeKeyVault? = null,
    private val bootID: () -> String = { SystemBoot.id() }
) : ClientStore {
    private val state = ProtectedFile(File(folder, "state.json"), keepsDamaged = true)
    private val credentials = ProtectedFile(File(folder, "credentials"))
    private val keys = ProtectedFile(File(folder, "keys"))
    private val opened = File(folder, "opened")

    override fun read(): ClientState {
        val bytes = state.read() ?: return ClientState()
        return ClientStateCoding.decodeState(bytes) ?: ClientState().also { state.putAside() }
    }

    override fun <R> update(change: (ClientState) -> R): R = withLock {
        val before = read()
        val after = before.copy()
        val result = change(after)
        if (after != before) state.write(ClientStateCoding.encode(after))
        result
    }

    override fun credentials(): StoredCredentials? = open(credentials)?.let { bytes ->
        ClientStateCoding.decodeCredentials(bytes) ?: null.also { credentials.putAside() }
    }

    override fun save(credentials: StoredCredentials?) {
        withLock { write(credentials) }
    }

    override fun replace(expected: StoredCredentials?, credentials: StoredCredentials?): Boolean = withLock {
        (credentials() == expected).also { if (it) write(credentials) }
    }

    /** The box makes its key when it first seals: under the lock, so that two processes do not make two. */
    private fun write(credentials: StoredCredentials?) {
        if (credentials == null) {
            this.credentials.remove()
        } else {
            this.credentials.write(seal(ClientStateCoding.encode(credentials)))
        }
    }

    override fun envelopeKeys(): List<EnvelopePrivateKey> = ring().entries.mapNotNull { key(it) }

    /** Damaged keys are as lost ones. */
    private fun ring(): EnvelopeKeyRing = open(keys)?.let { EnvelopeKeyRing.decode(it) } ?: EnvelopeKeyRing()

    private fun key(entry: EnvelopeKeyRing.Entry): EnvelopePrivateKey? =
        entry.pair?.let { SoftwareEnvelopeKey(it) } ?: inVault { it.find(entry.number, entry.publicBytes) }

    override fun makeEnvelopeKey(date: Long): EnvelopePrivateKey = withLock {
        val ring = ring()
        val newest = ring.entries.firstOrNull()?.let { key(it) }
        if (newest == null || ring.isDue(date)) {
            addKey(ring, date)
        } else {
            change(ring, ring.current(date))
            newest
        }
    }

    /** Makes a key, in the vault if that can have one. The file has the public half then. */
    private fun addKey(ring: EnvelopeKeyRing, date: Long): EnvelopePrivateKey {
        val number = ring.freeNumber()
        val vaulted = inVault { it.make(number) }
        val entry = if (vaulted == null) EnvelopeKeyRing.softwareEntry(date) else
            EnvelopeKeyRing.Entry(number, vaulted.publicBytes, null, date)
        change(ring, ring.with(entry, date))
        return vaulted ?: checkNotNull(key(entry))
    }

    /** Stores the keys, and then removes the private halves that are left in the vault. */
    private fun change(ring: EnvelopeKeyRing, next: EnvelopeKeyRing) {
        if (next === ring) return
        keys.write(seal(next.encode()))
        val numbers = ring.entries.map { it.number } - next.entries.map { it.number }
        for (number in numbers) if (number != 0) inVault { it.remove(number) }
    }

    override fun removeEnvelopeKeys() = withLock {
        for (number in EnvelopeKeyRing.NUMBERS) inVault { it.remove(number) }
        keys.remove()
    }

    override fun rememberEnvelope(id: UUID, notification: PushID, date: Long): Boolean = withLock {
        try {
            val bytes = if (opened.exists()) opened.readBytes() else ByteArray(0)
            val records = OpenedEnvelopes(bytes)
            records.allows(id, notification) ?: true.also {
                val record = OpenedEnvelopes.record(id, notification, date)
                val kept = records.compacted(date)
                if (kept == null) append(record, bytes.size) else ProtectedFile(opened).write(kept + record)
            }
        } catch (e: IOException) {
            throw ClientStoreException(ClientStoreException.Reason.UNWRITABLE)
        }
    }

    /** Adds a record. It overwrites an incomplete record at the end. */
    private fun append(record: ByteArray, length: Int) {
        if (length == 0) return ProtectedFile(opened).write(record)
        RandomAccessFile(opened, "rw").use { file ->
            file.seek(length.toLong() - length % record.size)
            file.write(record)
            file.fd.sync()
        }
    }

    private fun <R> inVault(action: (EnvelopeKeyVault) -> R): R? = try {
        vault?.let(action)
    } catch (e: Exception) {
        throw ClientStoreException(ClientStoreException.Reason.UNREADABLE)
    }

    override fun claimLockedNotice(): Boolean {
        val mark = File(folder, "$MARK${bootID()}")
        val isFirst = try {
            createFolder()
            mark.createNewFile()
        } catch (e: ClientStoreException) {
            true
        } catch (e: IOException) {
            true
        }
        val old = folder.listFiles { _, name -> name.startsWith(MARK) && name != mark.name } ?: emptyArray()
        for (file in old) file.delete()
        return isFirst
    }

    private fun seal(content: ByteArray): ByteArray = try {
        box?.seal(content) ?: content
    } catch (e: Exception) {
        throw ClientStoreException(ClientStoreException.Reason.UNWRITABLE)
    }

    /** What cannot be decrypted any more is replaced at the next log-in. */
    private fun open(file: ProtectedFile): ByteArray? {
        val content = file.read() ?: return null
        if (box == null) return content
        try {
            return box.open(content)
        } catch (e: Exception) {
            throw ClientStoreException(ClientStoreException.Reason.UNREADABLE)
        }
    }

    private fun createFolder() {
        if (folder.isDirectory) return
        if (!folder.mkdirs() && !folder.isDirectory) throw ClientStoreException(ClientStoreException.Reason.UNWRITABLE)
        folder.setReadable(false, false)
        folder.setExecutable(false, false)
        folder.setReadable(true, true)
        folder.setExecutable(true, true)
    }

    /** Runs work while no one else can change the files: other threads by a lock, other processes by a locked file. */
    private fun <R> withLock(work: () -> R): R {
        createFolder()
        // A channel closes when its thread is interrupted. The interrupt waits until the change is stored.
        var isInterrupted = Thread.interrupted()
        val threads = locks.getOrPut(folder.absolutePath) { ReentrantLock() }
        try {
            val end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(LOCK_MILLIS)
            while (!threads.tryLock()) {
                isInterrupted = pause() || isInterrupted
                if (System.nanoTime() - end > 0) throw ClientStoreException(ClientStoreException.Reason.BUSY)
            }
            try {
                return withFileLock(end, work)
            } finally {
                threads.unlock()
            }
        } finally {
            if (isInterrupted) Thread.currentThread().interrupt()
        }
    }

    private fun <R> withFileLock(end: Long, work: () -> R): R {
        val lockFile = try {
            RandomAccessFile(File(folder, "lock"), "rw")
        } catch (e: IOException) {
            throw ClientStoreException(ClientStoreException.Reason.UNWRITABLE)
        }
        var isInterrupted = false
        try {
            while (true) {
                val lock = try {
                    lockFile.channel.tryLock()
                } catch (e: IOException) {
                    throw ClientStoreException(ClientStoreException.Reason.UNWRITABLE)
                }
                if (lock != null) return work()
                isInterrupted = pause() || isInterrupted
                if (System.nanoTime() - end > 0) throw ClientStoreException(ClientStoreException.Reason.BUSY)
            }
        } finally {
            // It also ends the lock.
            lockFile.close()
            if (isInterrupted) Thread.currentThread().interrupt()
        }
    }

    /** @return whether the thread was interrupted. */
    private fun pause(): Boolean = try {
        Thread.sleep(2)
        false
    } catch (e: InterruptedException) {
        true
    }

    private companion object {
        const val MARK = "locked-notice-"
        /** A change takes milliseconds. */
        const val LOCK_MILLIS = 2_000L
        val locks = ConcurrentHashMap<String, ReentrantLock>()
    }
}

/** The current run of the system. */
internal object SystemBoot {
    /** A text that is different after each start of the system, on Linux. */
    fun id(): String = try {
        File("/proc/sys/kernel/random/boot_id").readText().trim().filter { it.isLetterOrDigit() || it == '-' }.take(64)
    } catch (e: IOException) {
        "unknown"
    }
}
