package securepush.units

import java.io.ByteArrayOutputStream
import java.io.File
import java.nio.file.Files
import java.nio.file.attribute.PosixFilePermissions
import java.util.UUID
import java.util.concurrent.Executors
import java.util.concurrent.TimeUnit
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertNotNull
import org.junit.Assert.assertNull
import org.junit.Assert.assertTrue
import org.junit.Rule
import org.junit.Test
import org.junit.rules.TemporaryFolder
import securepush.ClientLimits
import securepush.ClientState
import securepush.ClientStateCoding
import securepush.ClientStore
import securepush.ClientStoreException
import securepush.DiagnosticCode
import securepush.FileClientStore
import securepush.OpenedEnvelopes
import securepush.PushID
import securepush.RefreshLease
import securepush.RegistrationRecord
import securepush.SecretBox
import securepush.SecretLedger
import securepush.ShownReport
import securepush.StoredCredentials
import securepush.simulation.SimulatedDevice

class FileClientStoreTests {
    @get:Rule val temporary = TemporaryFolder()
    private val folder by lazy { File(temporary.root, "a/store") }

    private fun id(number: Int): PushID = checkNotNull(PushID.of("id-$number"))

    /** A state in which everything has a value. */
    private fun full(): ClientState {
        val state = ClientState()
        state.userChanges = 3
        state.owner = "alice \"\\\n\u00e9\uD83D\uDE00"
        val limits = ClientLimits()
        for (number in 1..5) state.ledger.learn(id(number), limits)
        state.ledger.claim(id(2), "process", true, 100, limits)
        for (time in 1..2) state.ledger.markRequested(id(3))
        state.ledger.notice(id(3))
        state.ledger.notice(id(4), isGone = true)
        state.ledger.withdraw(id(5), limits)
        state.cursor = id(5)
        state.isPrompted = true
        state.unconfirmed = listOf(id(1))
        state.unreported = listOf(ShownReport(id(2)), ShownReport(id(3), false, DiagnosticCode.UNREACHABLE))
        val installation = "0b1f7e8e-6a3e-4d8e-9a55-0d6f6b3c2a10"
        state.registration = RegistrationRecord(installation, "alice", "digest", 1_800_000_000_000, "key", true)
        state.keyOwner = "alice"
        state.pushKeys = SimulatedDevice.publicKeys
        state.pushKeysReadAt = 1_800_000_000_000
        state.refreshLease = RefreshLease("process", 200)
        return state
    }

    @Test
    fun everythingComesBack() {
        val state = full()
        assertEquals(state, ClientStateCoding.decodeState(ClientStateCoding.encode(state)))
        val store = FileClientStore(folder)
        assertEquals(ClientState(), store.read())
        store.update { it.merge(state) }
        store.save(StoredCredentials("alice", "token", 7, "refresh", "password"))
        val read = checkNotNull(FileClientStore(folder).credentials())
        assertEquals(
            listOf("alice", "token", 7L, "refresh", "password"),
            listOf(read.userName, read.accessToken, read.expiresAt, read.refreshToken, read.password)
        )
        assertFalse("$read".contains("token"))
        assertEquals("alice \"\\\n\u00e9\uD83D\uDE00", FileClientStore(folder).read().owner)
        store.save(null as StoredCredentials?)
        assertNull(store.credentials())
    }

    @Test
    fun onlyTheOwnerReadsTheFiles() {
        val store = FileClientStore(folder)
        store.update { it.owner = "alice" }
        store.save(StoredCredentials("alice"))
        store.makeEnvelopeKey(0)
        assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.toPath())))
        for (name in listOf("state.json", "credentials", "keys")) {
            val modes = Files.getPosixFilePermissions(File(folder, name).toPath())
            assertEquals("rw-------", PosixFilePermissions.toString(modes))
        }
    }

    @Test
    fun damagedFilesArePutAside() {
        val store = FileClientStore(folder)
        store.update { it.owner = "alice" }
        store.save(StoredCredentials("alice"))
        val damages = listOf("", "{", "[]", "{\"ledger\":[{\"id\":7}]}", "[".repeat(100_000), "{\"owner\":1}",
            "{\"registration\":{\"installationID\":\"../../token\"}}"
        )
        for (damage in damages) {
            File(folder, "state.json").writeText(damage)
            assertEquals(ClientState(), store.read())
            assertEquals(damage, File(folder, "state.json.damaged").readText())
        }
        File(folder, "credentials").writeText("{\"userName\":")
        assertNull(store.credentials())
        assertFalse("no secrets stay", folder.list()!!.any { it.startsWith("credentials") })
        File(folder, "state.json").writeText("x".repeat(5 shl 20))
        assertEquals(ClientState(), store.read())
        store.update { it.owner = "bob" }
        assertEquals("bob", store.read().owner)
    }

    @Test
    fun changesOfManyThreadsAndStoresAreAllThere() {
        val stores = listOf(FileClientStore(folder), FileClientStore(folder))
        val threads = Executors.newFixedThreadPool(8)
        for (number in 1..200) {
            threads.execute {
                while (true) {
                    try {
                        stores[number % 2].update { it.ledger.learn(id(number), ClientLimits()) }
                        break
                    } catch (error: ClientStoreException) {
                        // On a busy machine a thread waits longer than a change may; what was not made is told.
                        if (error.reason != ClientStoreException.Reason.BUSY) throw error
                    }
                }
            }
        }
        threads.shutdown()
        assertTrue(threads.awaitTermination(60, TimeUnit.SECONDS))
        assertEquals(200, stores[0].read().ledger.entries.size)
    }

    @Test
    fun anInterruptDoesNotLoseAChange() {
        val store = FileClientStore(folder)
        Thread.currentThread().interrupt()
        store.update { it.owner = "alice" }
        assertTrue("still interrupted", Thread.interrupted())
        assertEquals("alice", store.read().owner)
    }

    @Test
    fun aFolderThatCannotBeMadeIsUnwritable() {
        File(temporary.root, "file").writeText("x")
        val store = FileClientStore(File(temporary.root, "file/store"))
        assertEquals(ClientState(), store.read())
        try {
            store.update { it.owner = "alice" }
            throw AssertionError("It was written.")
        } catch (e: ClientStoreException) {
            assertEquals(ClientStoreException.Reason.UNWRITABLE, e.reason)
        }
    }

    @Test
    fun secretsAreInTheBox() {
        var isKeyLost = false
        val box = object : SecretBox {
            override fun seal(content: ByteArray) = content.map { (it.toInt() xor 0x55).toByte() }.toByteArray()

            override fun open(sealed: ByteArray): ByteArray? = if (isKeyLost) null else seal(sealed)
        }
        val store = FileClientStore(folder, box)
        store.save(StoredCredentials("alice", "access-token"))
        val key = store.makeEnvelopeKey(0)
        assertEquals("kept", key.publicJwk, store.makeEnvelopeKey(0).publicJwk)
        assertEquals("access-token", store.credentials()?.accessToken)
        assertEquals(key.publicJwk, FileClientStore(folder, box).envelopeKeys().firstOrNull()?.publicJwk)
        assertFalse(File(folder, "credentials").readText().contains("access-token"))
        isKeyLost = true
        assertNull(store.credentials())
        assertNull(store.envelopeKeys().firstOrNull())
        isKeyLost = false
        store.removeEnvelopeKeys()
        assertNull(store.envelopeKeys().firstOrNull())
    }

    @Test
    fun openedEnvelopesAreRemembered() {
        val (first, second) = Pair(UUID.randomUUID(), UUID.randomUUID())
        fun store() = FileClientStore(folder)
        assertTrue(store().rememberEnvelope(first, id(1), 0))
        assertTrue("a fetch is repeated after a crash", store().rememberEnvelope(first, id(1), 0))
        assertFalse(store().rememberEnvelope(first, id(2), 0))
        // The process ended while it wrote, and the user has left since then.
        File(folder, "opened").appendBytes(ByteArray(7))
        store().removeEnvelopeKeys()
        assertTrue(store().rememberEnvelope(second, id(2), 0))
        assertFalse(store().rememberEnvelope(second, id(1), 0))
        assertFalse(store().rememberEnvelope(first, id(2), 0))
        assertEquals(80, File(folder, "opened").length())
        assertEquals(
            "rw-------",
            PosixFilePermissions.toString(Files.getPosixFilePermissions(File(folder, "opened").toPath()))
        )
        // A store that cannot be written says so.
        assertTrue(File(folder, "opened").delete() && File(folder, "opened").mkdir())
        try {
            store().rememberEnvelope(first, id(1), 0)
            throw AssertionError("It cannot be remembered.")
        } catch (e: ClientStoreException) {
            assertEquals(ClientStoreException.Reason.UNWRITABLE, e.reason)
        }
    }

    /** 10,000 of the last 90 days, and some more, so that not every change rewrites the file. */
    @Test
    fun fewEnvelopesAreRemembered() {
        val day = 86_400_000L
        val ids = (0 until 11_000).map { UUID(7, it.toLong()) }
        val records = ByteArrayOutputStream()
        for (id in ids) records.write(OpenedEnvelopes.record(id, id(1), day))
        assertTrue(folder.mkdirs())
        File(folder, "opened").writeBytes(records.toByteArray())
        val store = FileClientStore(folder)
        assertTrue(store.rememberEnvelope(UUID(8, 0), id(2), 2 * day))
        assertEquals(10_001 * 40L, File(folder, "opened").length())
        assertFalse(store.rememberEnvelope(ids.last(), id(2), 2 * day))
        assertTrue("forgotten", store.rememberEnvelope(ids.first(), id(2), 93 * day))
        assertEquals("only one is younger", 2 * 40L, File(folder, "opened").length())
    }

    @Test
    fun oneLockedNoticePerStart() {
        var start = "1"
        fun store(): ClientStore = FileClientStore(folder) { start }
        assertTrue(store().claimLockedNotice())
        assertFalse(store().claimLockedNotice())
        start = "2"
        assertTrue(store().claimLockedNotice())
        assertFalse(store().claimLockedNotice())
        assertEquals(1, checkNotNull(folder.list()).size)
    }

    @Test
    fun theLedgerForgetsTheOldestThatIsSettled() {
        val limits = ClientLimits(maxRememberedIDs = 3)
        val ledger = SecretLedger()
        for (number in 1..3) ledger.learn(id(number), limits)
        ledger.withdraw(id(2), limits)
        ledger.learn(id(4), limits)
        assertEquals(listOf(id(1), id(3), id(4)), ledger.entries.map { it.id })
        ledger.learn(id(5), limits)
        assertEquals(listOf(id(3), id(4), id(5)), ledger.entries.map { it.id })
        assertNotNull(ledger[id(5)])
    }
}
