package securepush.platform

import android.app.Application
import android.os.Build
import android.os.UserManager
import android.security.keystore.StandInProvider
import android.security.keystore.StandInX25519
import java.io.File
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
import securepush.EnvelopePrivateKey
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
    private val file by lazy { File(context.folder, "securepush/key") }

    @Before
    fun prepare() {
        StandInProvider.install()
        context.services[UserManager::class.java] = UserManager()
        context.folder = temporary.newFolder("files")
    }

    @After
    fun restore() {
        Build.VERSION.SDK_INT = version
        StandInX25519.reset()
    }

    private fun isUnreadable(action: () -> Unit): Boolean = try {
        action()
        false
    } catch (e: ClientStoreException) {
        e.reason == ClientStoreException.Reason.UNREADABLE
    }

    @Test
    fun theProcessNeverHasThePrivateKey() {
        assertNull(store.envelopeKey())
        val key = store.makeEnvelopeKey()
        assertFalse(key is SoftwareEnvelopeKey)
        assertEquals(setOf("securepush.e2e"), StandInX25519.KEYS.keys)
        val other = SoftwareEnvelopeKey.generate()
        val shared = other.agree(key.publicBytes).toList()
        for (found in listOf(key, AndroidClientStore(context).envelopeKey(), store.makeEnvelopeKey())) {
            assertEquals(key.publicJwk, found?.publicJwk)
            assertEquals(shared, found?.agree(other.publicBytes)?.toList())
        }
        store.removeEnvelopeKey()
        assertNull(store.envelopeKey())
        assertTrue(StandInX25519.KEYS.isEmpty() && !file.exists())
        assertFalse("another key", key.publicJwk == store.makeEnvelopeKey().publicJwk)
        // The user's data was restored on another device.
        StandInX25519.KEYS.clear()
        assertNull(store.envelopeKey())
        store.makeEnvelopeKey()
        assertEquals(1, StandInX25519.KEYS.size)
    }

    /** An older Android, a device without X25519, and one whose X25519 is wrong. */
    @Test
    fun otherwiseTheKeyIsEncryptedInAFile() {
        val devices = listOf(
            { Build.VERSION.SDK_INT = 32 }, { StandInX25519.isThere = false }, { StandInX25519.isWrong = true },
            { StandInX25519.isBusy = true }
        )
        for (device in devices) {
            device()
            val key = store.makeEnvelopeKey() as SoftwareEnvelopeKey
            assertTrue(StandInX25519.KEYS.isEmpty())
            assertFalse(String(key.rawRepresentation, Charsets.ISO_8859_1) in file.readText(Charsets.ISO_8859_1))
            restore()
            // An update of the system to one with X25519 keeps the key.
            assertEquals(key.publicJwk, store.makeEnvelopeKey().publicJwk)
            assertEquals(key.publicJwk, AndroidClientStore(context).envelopeKey()?.publicJwk)
            store.removeEnvelopeKey()
            assertFalse(file.exists())
        }
    }

    @Test
    fun aHostilePublicKeyIsNoFaultOfTheKeystore() {
        val key = checkNotNull(KeystoreEnvelopeVault().make())
        for (point in listOf(ByteArray(32), ByteArray(32).also { it[0] = 1 })) {
            try {
                key.agree(point)
                throw AssertionError("The secret would be zero.")
            } catch (e: IllegalStateException) {
                continue
            }
        }
        StandInX25519.isBusy = true
        assertTrue(isUnreadable { key.agree(SoftwareEnvelopeKey.generate().publicBytes) })
    }

    @Test
    fun aDamagedFileIsReplaced() {
        val key = store.makeEnvelopeKey()
        file.writeBytes(ByteArray(50))
        assertNull(store.envelopeKey())
        assertFalse(key.publicJwk == store.makeEnvelopeKey().publicJwk)
        assertTrue(store.envelopeKey()?.publicBytes?.size == EnvelopePrivateKey.BYTES)
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
            val envelope = EnvelopeSealer.seal("\"The code is 4711.\"", SimulatedServer.USER, installation, jwk)
            val id = server.send(envelope)
            // The Keystore cannot be used now. The secret waits.
            StandInX25519.isBusy = true
            val push = IncomingPush.of(mapOf("secureId" to id.rawValue))
            assertEquals(DiagnosticCode.NO_KEY, client.handle(push).code)
            assertEquals(listOf(id), client.waiting())
            StandInX25519.isBusy = false
            assertEquals(listOf(id), client.catchUp().shown)
            assertEquals(listOf(Pair(id, "The code is 4711.")), screen.shown)
        }
    }
}
