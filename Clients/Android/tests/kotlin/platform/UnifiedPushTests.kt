package securepush.platform

import android.app.Activity
import android.app.job.JobParameters
import android.content.Context
import android.content.Intent
import android.os.PowerManager
import android.os.UserManager
import android.security.keystore.StandInProvider
import java.io.File
import org.json.JSONObject
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertNotEquals
import org.junit.Assert.assertNull
import org.junit.Assert.assertTrue
import org.junit.Before
import org.junit.Rule
import org.junit.Test
import org.junit.rules.TemporaryFolder
import org.unifiedpush.android.connector.StandInDistributor
import org.unifiedpush.android.connector.UnifiedPush
import org.unifiedpush.android.connector.data.PushMessage
import securepush.DiagnosticCode
import securepush.PushDevice
import securepush.PushID
import securepush.SecurePushFailure
import securepush.WakeReport
import securepush.WebPushKeys
import securepush.android.DistributorProblem
import securepush.android.SecurePushCatchUpService
import securepush.android.SecurePushMessagingService
import securepush.android.UnifiedPushChannel
import securepush.android.UnifiedPushReceiver
import securepush.isRegistrationDue
import securepush.simulation.DeviceFaults
import securepush.simulation.NoFaults
import securepush.simulation.SimulatedDevice
import securepush.simulation.Simulation
import securepush.simulation.WebPushSealer

/** The receiver for UnifiedPush, against a stand-in for the connector library and a distributor. */
class UnifiedPushTests {
    private val simulation = Simulation()
    private val device = SimulatedDevice(simulation)
    private val server = device.server
    private val distributor = StandInDistributor()
    private val power = PowerManager()
    private val users = UserManager()
    private val serverKey = WebPushKeys.generate().p256dh
    /** What the receiver told the app. */
    private val events = ArrayList<String>()

    @get:Rule val temporary = TemporaryFolder()

    @Before
    fun prepare() {
        StandInProvider.install()
        UnifiedPush.reset()
        UnifiedPush.installed["org.example.distributor"] = distributor
        server.pushConfig = "{\"ApplicationServerKey\":\"$serverKey\"}"
    }

    private inner class Receiver : UnifiedPushReceiver() {
        override fun onWake(context: Context, report: WakeReport) {
            events.add("${report.result} ${report.code}")
        }

        override fun onRegistered(context: Context) {
            events.add("registered")
        }

        override fun onNotRegistered(context: Context, failure: SecurePushFailure) {
            events.add("not registered ${failure.code}")
        }

        override fun onDistributorProblem(context: Context, problem: DistributorProblem) {
            events.add("$problem")
        }

        override fun onMessage(context: Context, message: PushMessage, instance: String) {
            if (instance == "chat") {
                events.add("chat: ${String(message.content)} ${message.decrypted}")
            } else {
                super.onMessage(context, message, instance)
            }
        }
    }

    /** A process of an app with UnifiedPush. */
    private fun start(faults: DeviceFaults = NoFaults): SimulatedDevice.App = device.start(faults = faults).also {
        it.folder = File(temporary.root, "files")
        it.services[PowerManager::class.java] = power
        it.services[UserManager::class.java] = users
        it.securePushChannel = UnifiedPushChannel(it, description = "Messages")
    }

    private fun channel(app: SimulatedDevice.App) = app.securePushChannel as UnifiedPushChannel

    /** A broadcast of the distributor to the app; it returns when the receiver is done. What it told the app. */
    private fun receive(app: SimulatedDevice.App, broadcast: Intent): List<String> {
        events.clear()
        val receiver = Receiver()
        receiver.onReceive(app, broadcast)
        while (receiver.ended < receiver.kept) simulation.sleep(50)
        assertEquals("wake locks", 0, power.held)
        return events.toList()
    }

    private val token: String get() = UnifiedPush.instances.getValue("securepush")

    private fun endpoint(url: String) = StandInDistributor.broadcast("NEW_ENDPOINT", token, "endpoint" to url)

    private fun failed(reason: String) = StandInDistributor.broadcast("REGISTRATION_FAILED", token, "reason" to reason)

    /** The channel that the server has. */
    private fun registered(): JSONObject = JSONObject(server.installations.values.single()).getJSONObject("pushChannel")

    /** A push as the hub sends it to the endpoint that the server has. */
    private fun body(text: String): ByteArray =
        registered().let { WebPushSealer(it.getString("p256dh"), it.getString("auth")).seal(text) }

    private fun body(id: PushID, withdraw: Boolean = false) = body(JSONObject(device.data(id, withdraw)).toString())

    private fun message(body: ByteArray) = StandInDistributor.broadcast("MESSAGE", token).putExtra("bytesMessage", body)

    private fun logInAndRegister() {
        device.logIn()
        UnifiedPush.saveDistributor(start(), "org.example.distributor")
        val app = start()
        assertTrue(channel(app).register())
        assertEquals(listOf("registered", "NO_DATA null"), receive(app, endpoint("https://up.example.org/1")))
    }

    private fun code(action: () -> Unit): DiagnosticCode? = try {
        action()
        null
    } catch (e: SecurePushFailure) {
        e.code
    }

    private fun runJob(app: SimulatedDevice.App, meanwhile: () -> Unit = {}): Boolean {
        val job = SecurePushCatchUpService()
        job.attachBaseContext(app)
        assertTrue(job.onStartJob(JobParameters()))
        simulation.sleep(5_000)
        meanwhile()
        while (job.finished == 0) simulation.sleep(100)
        device.jobs.jobs.clear()
        return job.wantsReschedule
    }

    private val offline = object : DeviceFaults by NoFaults {
        override fun answer(request: securepush.TransportRequest, timeout: Long, maxBytes: Int) =
            throw securepush.TransportException(securepush.TransportException.Reason.UNREACHABLE)
    }

    @Test
    fun anEndpointIsRegisteredAsABrowser() = simulation.run {
        assertEquals(DiagnosticCode.LOGGED_OUT, code { channel(start()).register() })
        device.logIn()
        assertFalse("no distributor is chosen", channel(start()).register())
        UnifiedPush.tryUseCurrentOrDefaultDistributor(Activity()) { assertTrue(it) }
        assertTrue(channel(start()).register())
        val asked = distributor.registrations.getValue(token)
        assertEquals("Messages $serverKey", "${asked.description} ${asked.vapid}")
        assertEquals(0, server.count("PUT"))
        assertTrue("it has no channel yet", start().client.isRegistrationDue)
        val missed = server.send()
        assertEquals(listOf("registered", "NEW_DATA null"), receive(start(), endpoint("https://up.example.org/1")))
        assertEquals("the inbox is read", 1, device.screen.count(missed))
        assertEquals("https://up.example.org/1", registered().getString("endpoint"))
        assertEquals("browser", JSONObject(server.installations.values.single()).getString("platform"))
        assertFalse(start().client.isRegistrationDue)
        // Each start asks again, and the distributor gives what it gave.
        assertTrue(channel(start()).register())
        assertEquals(listOf("registered"), receive(start(), endpoint("https://up.example.org/1")))
        assertEquals(1, server.count("PUT"))
        val keys = registered().getString("p256dh")
        assertEquals(listOf("registered", "NO_DATA null"), receive(start(), endpoint("https://up.example.org/2")))
        assertEquals("https://up.example.org/2", registered().getString("endpoint"))
        assertEquals(keys, registered().getString("p256dh"))
        assertEquals(2, server.count("PUT"))
    }

    @Test
    fun aMessageIsDecryptedAndShown() = simulation.run {
        logInAndRegister()
        val id = server.send()
        assertEquals(listOf("NEW_DATA null"), receive(start(), message(body(id))))
        assertEquals(1, device.screen.count(id))
        assertTrue(device.jobs.jobs.isEmpty())
        assertEquals("again", listOf("NO_DATA null"), receive(start(), message(body(id))))
        assertEquals(1, device.screen.count(id))
        server.stored.single().isRevoked = true
        assertEquals(listOf("NEW_DATA null"), receive(start(), message(body(id, withdraw = true))))
        assertTrue(device.screen.visible.isEmpty())
        val withdrawn = server.send()
        receive(start(), message(body(withdrawn, withdraw = true)))
        receive(start(), message(body(withdrawn)))
        assertEquals("the withdrawal came first", 0, device.screen.count(withdrawn))
    }

    @Test
    fun theSamePushTwiceAtOnceIsShownOnce() = simulation.run {
        logInAndRegister()
        val id = server.send()
        val broadcast = message(body(id))
        val app = start()
        val receivers = listOf(Receiver(), Receiver())
        for (receiver in receivers) receiver.onReceive(app, broadcast)
        while (receivers.any { it.ended < it.kept }) simulation.sleep(50)
        assertEquals(1, device.screen.count(id))
    }

    @Test
    fun anEndedSessionAsksForTheLogIn() = simulation.run {
        logInAndRegister()
        server.endSessions()
        val id = server.send()
        assertEquals(listOf("FAILED SP-401"), receive(start(), message(body(id))))
        assertTrue(device.screen.isPrompting)
        device.logIn()
        start().client.resumeAfterLogIn()
        assertEquals(1, device.screen.count(id))
    }

    @Test
    fun aForgedPushDoesNothing() = simulation.run {
        logInAndRegister()
        val id = server.send()
        val requests = server.log.size
        val forged = device.data(id) + mapOf("sig" to "A".repeat(86))
        assertEquals(
            listOf("NO_DATA SP-SIGNATURE"), receive(start(), message(body(JSONObject(forged).toString())))
        )
        assertEquals(listOf("NO_DATA SP-PUSH"), receive(start(), message(body("{\"other\":1}"))))
        assertEquals(listOf("NO_DATA SP-SIGNATURE"), receive(start(), message(body("no JSON"))))
        assertEquals(requests, server.log.size)
        assertTrue(device.jobs.jobs.isEmpty())
        assertEquals(0, device.screen.hints)
        // Another app does not know the token.
        val foreign = StandInDistributor.broadcast("MESSAGE", "token").putExtra("bytesMessage", body(id))
        assertEquals(emptyList<String>(), receive(start(), foreign))
    }

    /** Such as a push for keys that the server had before. */
    @Test
    fun whatCannotBeReadLeadsToOneJob() = simulation.run {
        logInAndRegister()
        val id = server.send()
        val other = WebPushKeys.generate()
        val bodies = listOf(
            WebPushSealer(other.p256dh, other.auth).seal("{}"), ByteArray(0), ByteArray(4_096), ByteArray(5_000),
            device.data(id).toString().toByteArray(), body(id).also { it[100] = (it[100].toInt() xor 1).toByte() }
        )
        val before = device.jobs.scheduled
        for (body in bodies) assertEquals(listOf("NO_DATA SP-PUSH"), receive(start(), message(body)))
        assertEquals(before + 1, device.jobs.scheduled)
        assertFalse(runJob(start()))
        assertEquals("the inbox is read", 1, device.screen.count(id))
        assertEquals("the registration was not the problem", 1, server.count("PUT"))
    }

    @Test
    fun lostKeysAreReplaced() = simulation.run {
        logInAndRegister()
        val last = registered().getString("p256dh")
        val id = server.send()
        val broadcast = message(body(id))
        StandInProvider.KEYS.clear()
        assertEquals(listOf("NO_DATA SP-PUSH"), receive(start(), broadcast))
        val app = start()
        assertFalse(runJob(app) { receive(app, endpoint("https://up.example.org/1")) })
        assertEquals(1, device.screen.count(id))
        assertNotEquals(last, registered().getString("p256dh"))
        val next = server.send()
        assertEquals(listOf("NEW_DATA null"), receive(start(), message(body(next))))
    }

    @Test
    fun aMessageWithoutAConnectionIsLeftToTheJob() = simulation.run {
        logInAndRegister()
        val id = server.send()
        val begin = simulation.uptime
        assertEquals(listOf("FAILED SP-OFFLINE"), receive(start(offline), message(body(id))))
        assertTrue("Android's 10 s", simulation.uptime - begin < 10_000)
        assertEquals(1, device.screen.notices.size)
        assertEquals(1, device.jobs.jobs.size)
        assertFalse(runJob(start()))
        assertEquals(1, device.screen.count(id))
    }

    @Test
    fun anEndpointWithoutAConnectionIsRegisteredByTheJob() = simulation.run {
        device.logIn()
        UnifiedPush.saveDistributor(start(), "org.example.distributor")
        assertEquals(DiagnosticCode.UNREACHABLE, code { channel(start(offline)).register() })
        assertTrue(channel(start()).register())
        assertEquals(
            listOf("not registered SP-OFFLINE"), receive(start(offline), endpoint("https://up.example.org/1"))
        )
        assertEquals(1, device.jobs.jobs.size)
        assertTrue("the distributor does not answer", runJob(start()))
        val app = start()
        assertFalse(runJob(app) { receive(app, endpoint("https://up.example.org/1")) })
        assertEquals("https://up.example.org/1", registered().getString("endpoint"))
    }

    @Test
    fun failuresOfTheDistributorAreTold() = simulation.run {
        logInAndRegister()
        val expected = mapOf(
            "NETWORK" to "NETWORK", "INTERNAL_ERROR" to "FAILED", "" to "FAILED",
            "ACTION_REQUIRED" to "ACTION_REQUIRED", "VAPID_REQUIRED" to "SERVER_KEY_REQUIRED"
        )
        for ((reason, problem) in expected) {
            device.jobs.jobs.clear()
            assertEquals(listOf(problem), receive(start(), failed(reason)))
            assertEquals(reason, problem in setOf("NETWORK", "FAILED"), device.jobs.jobs.isNotEmpty())
        }
        device.jobs.jobs.clear()
        val unavailable = StandInDistributor.broadcast("TEMP_UNAVAILABLE", token)
        assertEquals(listOf("UNAVAILABLE"), receive(start(), unavailable))
        assertEquals(1, device.jobs.jobs.size)
        for (url in listOf("http://up.example.org/1", "https://" + "x".repeat(1_000), "")) {
            assertEquals(listOf("FAILED"), receive(start(), endpoint(url)))
        }
        assertEquals(1, server.count("PUT"))
    }

    @Test
    fun aServerWithoutAKeyIsAllowed() = simulation.run {
        server.pushConfig = null
        logInAndRegister()
        assertNull(distributor.registrations.getValue(token).vapid)
    }

    @Test
    fun anEndedRegistrationIsMadeAgain() = simulation.run {
        logInAndRegister()
        UnifiedPush.register(start(), "chat")
        val last = token
        val missed = server.send()
        assertEquals(listOf("UNREGISTERED"), receive(start(), StandInDistributor.broadcast("UNREGISTERED", last)))
        assertTrue(start().client.isRegistrationDue)
        // The distributor is still there, for the other registration.
        val app = start()
        assertFalse(runJob(app) { receive(app, endpoint("https://up.example.org/9")) })
        assertEquals(1, device.screen.count(missed))
        assertNotEquals(last, token)
        assertEquals("https://up.example.org/9", registered().getString("endpoint"))
        assertEquals(listOf("NO_DATA null"), receive(app, message(body(missed))))
        // The app has no other registration, so the library forgets the distributor.
        UnifiedPush.unregister(app, "chat")
        assertEquals(listOf("UNREGISTERED"), receive(app, StandInDistributor.broadcast("UNREGISTERED", token)))
        assertFalse("trying again does not help", runJob(start()))
        assertFalse(channel(start()).register())
    }

    @Test
    fun otherRegistrationsOfTheAppAreItsOwn() = simulation.run {
        logInAndRegister()
        UnifiedPush.register(start(), "chat")
        val chat = UnifiedPush.instances.getValue("chat")
        val hello = StandInDistributor.broadcast("MESSAGE", chat).putExtra("bytesMessage", "olleh".toByteArray())
        assertEquals(listOf("chat: hello true"), receive(start(), hello))
        val other = StandInDistributor.broadcast("NEW_ENDPOINT", chat, "endpoint" to "https://up.example.org/7")
        assertEquals(emptyList<String>(), receive(start(), other))
        for (action in listOf("REGISTRATION_FAILED", "TEMP_UNAVAILABLE", "UNREGISTERED")) {
            assertEquals(emptyList<String>(), receive(start(), StandInDistributor.broadcast(action, chat)))
        }
        assertEquals(1, server.count("PUT"))
    }

    @Test
    fun aLogOutKeepsTheEndpointForTheNextLogIn() = simulation.run {
        logInAndRegister()
        start().client.unregister()
        // A ping of the distributor.
        assertEquals(emptyList<String>(), receive(start(), endpoint("https://up.example.org/1")))
        assertTrue(server.installations.isEmpty())
        assertTrue(channel(start()).register())
        assertEquals("registered", receive(start(), endpoint("https://up.example.org/1")).first())
        channel(start()).unregister()
        assertTrue(distributor.registrations.isEmpty())
        assertFalse(File(temporary.root, "files/securepush/web-push").exists())
    }

    @Test
    fun theJobRegistersNothingAfterALogOut() = simulation.run {
        logInAndRegister()
        val app = start()
        UnifiedPush.register(app, "chat")
        receive(app, StandInDistributor.broadcast("UNREGISTERED", token))
        device.disk.credentials = null
        assertTrue("nobody is logged in", channel(app).renew())
        device.logIn()
        app.client.unregister()
        assertTrue("it is not wanted", channel(app).renew())
        assertEquals(setOf("chat"), UnifiedPush.instances.keys)
        assertFalse(app.client.isRegistrationDue)
    }

    @Test
    fun onlyTheChannelOfTheAppRegistersTheDevice() = simulation.run {
        logInAndRegister()
        val service = SecurePushMessagingService()
        service.attachBaseContext(start())
        service.onNewToken("a token of Firebase")
        assertEquals(1, server.count("PUT"))
        // The app has changed to Firebase.
        val app = device.start()
        app.client.register(PushDevice(PushDevice.Platform.FCM_V1, "token"))
        assertEquals(emptyList<String>(), receive(app, endpoint("https://up.example.org/2")))
        assertEquals(2, server.count("PUT"))
    }

    @Test
    fun beforeTheFirstUnlockTheUserIsTold() = simulation.run {
        logInAndRegister()
        val broadcast = message(body(server.send()))
        users.unlocked = false
        assertEquals(listOf("FAILED SP-LOCKED"), receive(start(), broadcast))
        assertEquals(1, device.screen.notices.size)
        assertEquals(DiagnosticCode.LOCKED, code { channel(start()).register() })
        users.unlocked = true
    }
}
