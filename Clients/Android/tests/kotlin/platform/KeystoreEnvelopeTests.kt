package securepush.platform

import android.app.Application
import android.os.Build
import android.os.UserManager
import android.security.keystore.StandInProvider
import android.security.keystore.StandInP256
import java.io.File
import java.security.GeneralSecurityException
import org.json.JSONObject
import org.junit.After
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertNull
import org.junit.Assert.assertTrue
import org.junit.Before
import org.junit.Rule
import org.junit.Test
import org.junit.rules.TemporaryFolder
import securepush.ClientStoreException
import securepush.DiagnosticCode
import securepush.IncomingPush
import securepush.PushDevice
import securepush.SecurePushClient
import securepush.SecurePushConfiguration
import securepush.SoftwareEnvelopeKey
import securepush.TokenCredentialsProvider
import securepush.Transport
import securepush.TransportRequest
import securepush.TransportResponse
import securepush.android.AndroidClientStore
import securepush.android.KeystoreEnvelopeVault
import securepush.simulation.EnvelopeSealer
import securepush.simulation.NoFaults
import securepush.simulation.SimulatedPresenter
import securepush.simulation.SimulatedProcess
import securepush.simulation.SimulatedScreen
import securepush.simulation.SimulatedServer
import securepush.simulation.Simulation

/** The key for end-to-end encryption in the Android Keystore, against a stand-in for it. */
class KeystoreEnvelopeTests {
    @get:Rule val temporary = TemporaryFolder()
    private val version = Build.VERSION.SDK_INT
    private val context = Application()
    private val store by lazy { AndroidClientStore(context) }
    private val file by lazy { File(context.folder, "securepush/keys") }

    @Before
    fun prepare() {
        StandInProvider.install()
        context.services[UserManager::class.java] = UserManager()
        context.folder = temporary.newFolder("files")
    }

    @After
    fun restore() {
        Build.VERSION.SDK_INT = version
        StandInP256.reset()
    }

    private fun isUnreadable(action: () -> Unit): Boolean = try {
        action()
        false
    } catch (e: ClientStoreException) {
        e.reason == ClientStoreException.Reason.UNREADABLE
    }

    @Test
    fun theProcessNeverHasThePrivateKey() {
        assertNull(store.envelopeKeys().firstOrNull())
        val key = store.makeEnvelopeKey(0)
        assertFalse(key is SoftwareEnvelopeKey)
        assertEquals(setOf("securepush.e2e.1"), StandInP256.KEYS.keys)
        val other = SoftwareEnvelopeKey.generate()
        val shared = other.agree(key.publicBytes).toList()
        for (found in listOf(key, AndroidClientStore(context).envelopeKeys().firstOrNull(), store.makeEnvelopeKey(0))) {
            assertEquals(key.publicJwk, found?.publicJwk)
            assertEquals(shared, found?.agree(other.publicBytes)?.toList())
        }
        store.removeEnvelopeKeys()
        assertNull(store.envelopeKeys().firstOrNull())
        assertTrue(StandInP256.KEYS.isEmpty() && !file.exists())
        assertFalse("another key", key.publicJwk == store.makeEnvelopeKey(0).publicJwk)
        // The user's data was restored on another device.
        StandInP256.KEYS.clear()
        assertNull(store.envelopeKeys().firstOrNull())
        store.makeEnvelopeKey(0)
        assertEquals(1, StandInP256.KEYS.size)
    }

    /** An older Android, a device without key agreement, and one whose key agreement is wrong. */
    @Test
    fun otherwiseTheKeyIsEncryptedInAFile() {
        val devices = listOf(
            { Build.VERSION.SDK_INT = 30 }, { StandInP256.isThere = false }, { StandInP256.isWrong = true },
            { StandInP256.isBusy = true }
        )
        for (device in devices) {
            device()
            val key = store.makeEnvelopeKey(0) as SoftwareEnvelopeKey
            assertTrue(StandInP256.KEYS.isEmpty())
            assertFalse(String(key.pair.encoded.copyOf(32), Charsets.ISO_8859_1) in file.readText(Charsets.ISO_8859_1))
            restore()
            // An update of the system to one with key agreement keeps the key.
            assertEquals(key.publicJwk, store.makeEnvelopeKey(0).publicJwk)
            assertEquals(key.publicJwk, AndroidClientStore(context).envelopeKeys().firstOrNull()?.publicJwk)
            store.removeEnvelopeKeys()
            assertFalse(file.exists())
        }
    }

    @Test
    fun aSecureElementIsPreferred() {
        store.makeEnvelopeKey(0)
        assertEquals(1, StandInP256.inStrongBox)
        store.removeEnvelopeKeys()
        StandInP256.hasStrongBox = false
        assertFalse(store.makeEnvelopeKey(0) is SoftwareEnvelopeKey)
        assertEquals(1, StandInP256.inStrongBox)
    }

    /** A new key every 30 days; the former ones for 90 days after that, and then the Keystore has them no more. */
    @Test
    fun formerKeysAreKept() {
        val day = 86_400_000L
        val made = (0..12).map { store.makeEnvelopeKey(it * 30 * day).publicJwk }
        assertEquals(13, made.distinct().size)
        assertEquals(made.takeLast(4).reversed(), store.envelopeKeys().map { it.publicJwk }.take(4))
        assertTrue(StandInP256.KEYS.size in 4..5)
        assertEquals(made.last(), store.makeEnvelopeKey(389 * day).publicJwk)
        // A clock that went back makes no new key, and one that jumps ahead does not remove all.
        assertEquals(made.last(), store.makeEnvelopeKey(0).publicJwk)
        store.makeEnvelopeKey(100_000 * day)
        assertEquals(made.last(), store.envelopeKeys()[1].publicJwk)
        store.removeEnvelopeKeys()
        assertTrue(StandInP256.KEYS.isEmpty())
    }

    @Test
    fun aHostilePublicKeyIsNoFaultOfTheKeystore() {
        val key = checkNotNull(KeystoreEnvelopeVault().make(1))
        val point = SoftwareEnvelopeKey.generate().publicBytes
        for (bad in listOf(ByteArray(65), point.copyOf(33), point.copyOf().also { it[64] = (it[64] + 1).toByte() })) {
            try {
                key.agree(bad)
                throw AssertionError("This is no point.")
            } catch (e: GeneralSecurityException) {
                continue
            }
        }
        StandInP256.isBusy = true
        assertTrue(isUnreadable { key.agree(point) })
    }

    @Test
    fun aDamagedFileIsReplaced() {
        val key = store.makeEnvelopeKey(0)
        file.writeBytes(ByteArray(50))
        assertNull(store.envelopeKeys().firstOrNull())
        assertFalse(key.publicJwk == store.makeEnvelopeKey(0).publicJwk)
        assertTrue(store.envelopeKeys().firstOrNull()?.publicBytes?.size == 65)
    }

    /** Registered, encrypted, pushed, fetched, opened by the Keystore, shown. */
    @Test
    fun anEncryptedSecretIsShown() {
        val server = SimulatedServer()
        val screen = SimulatedScreen()
        val simulation = Simulation()
        simulation.run {
            val transport = object : Transport {
                override fun send(request: TransportRequest, timeout: Long, maxBytes: Int): TransportResponse =
                    server.respond(request)
            }
            val credentials =
                TokenCredentialsProvider(SimulatedServer.url, store, transport, simulation, simulation)
            val presenter = SimulatedPresenter(screen, SimulatedProcess(simulation, null), NoFaults)
            val configuration = SecurePushConfiguration(SimulatedServer.url, encryptsEndToEnd = true)
            val client = SecurePushClient(
                configuration, credentials, store, transport, presenter, simulation, simulation
            )
            credentials.logIn(SimulatedServer.USER, SimulatedServer.PASSWORD)
            val installation = client.register(PushDevice(PushDevice.Platform.FCM_V1, "token"))
            val jwk = JSONObject(server.bodies.single { it.first.endsWith("/key") }.second)
            val envelope = EnvelopeSealer(SimulatedServer.USER, installation, jwk)
                .seal("\"The code is 4711.\"", simulation.date)
            val id = server.send(envelope)
            // The Keystore cannot be used now. The secret waits.
            StandInP256.isBusy = true
            val push = IncomingPush.of(mapOf("secureId" to id.rawValue))
            assertEquals(DiagnosticCode.NO_KEY, client.handle(push).code)
            assertEquals(listOf(id), client.waiting())
            StandInP256.isBusy = false
            assertEquals(listOf(id), client.catchUp().shown)
            assertEquals(listOf(Pair(id, "The code is 4711.")), screen.shown)
        }
    }
}
