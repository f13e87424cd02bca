package securepush.platform

import android.app.Activity
import android.app.NotificationManager
import android.content.Intent
import android.os.UserManager
import android.security.keystore.StandInProvider
import android.view.View
import android.view.WindowManager
import android.widget.EditText
import android.widget.LinearLayout
import android.widget.ScrollView
import android.widget.TextView
import com.example.securepush.DevicesActivity
import com.example.securepush.ExampleApplication
import com.example.securepush.ExampleReceiver
import com.example.securepush.failureText
import com.example.securepush.MainActivity
import com.example.securepush.MessageActivity
import com.example.securepush.MessagesActivity
import com.example.securepush.R
import com.example.securepush.Session
import com.google.firebase.messaging.FirebaseMessaging
import com.google.firebase.messaging.RemoteMessage
import java.util.concurrent.Executor
import org.json.JSONArray
import org.json.JSONObject
import org.junit.After
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertTrue
import org.junit.Before
import org.junit.Rule
import org.junit.Test
import org.junit.rules.TemporaryFolder
import org.unifiedpush.android.connector.StandInDistributor
import org.unifiedpush.android.connector.UnifiedPush
import securepush.ClientStore
import securepush.MemoryClientStore
import securepush.Transport
import securepush.TransportRequest
import securepush.TransportResponse
import securepush.android.SecurePushMessagingService
import securepush.simulation.SimulatedDevice
import securepush.simulation.SimulatedServer
import securepush.simulation.Simulation
import securepush.simulation.WebPushSealer

/** The example app: the tutorial's flow on its screen. */
class ExampleTests {
    private val server = SimulatedServer()
    private val manager = NotificationManager()
    private val sent = ArrayList<String>()
    private var sendStatus = 201

    private inner class App : ExampleApplication() {
        override val store: ClientStore = MemoryClientStore()

        override val transport = object : Transport {
            override fun send(request: TransportRequest, timeout: Long, maxBytes: Int): TransportResponse {
                if (request.url.host != "ingest.example.com") return server.respond(request)
                sent.add("${request.method} ${request.url} ${request.headers.keys} ${request.body?.size}")
                return TransportResponse(sendStatus)
            }
        }

        override val session by lazy { Session(this, Executor { it.run() }) }
    }

    private val app = App().apply {
        services[NotificationManager::class.java] = manager
        services[UserManager::class.java] = UserManager()
        for (id in 1..10) strings[id] = "library $id %s"
        for (id in 101..140) strings[id] = "text $id %s"
    }

    @get:Rule val temporary = TemporaryFolder()

    @Before
    fun prepare() {
        UnifiedPush.reset()
        StandInProvider.install()
        app.folder = temporary.root
    }

    private val activity = MainActivity().apply { attachBaseContext(app) }

    private fun views(): List<View> = (activity.contentView as LinearLayout).views

    private fun status(): String = (views()[8] as TextView).text.toString()

    private fun texts() = manager.activeNotifications.map { it.notification.text }

    private fun push(id: String) {
        val service = SecurePushMessagingService()
        service.attachBaseContext(app)
        service.onMessageReceived(RemoteMessage(mapOf("secureId" to id)))
    }

    private fun logIn() {
        (views()[0] as EditText).setText(SimulatedServer.USER)
        (views()[1] as EditText).setText(SimulatedServer.PASSWORD)
        views()[2].performClick()
    }

    @Test
    fun theTutorialsFlow() {
        activity.create()
        activity.resume()
        assertEquals(listOf("android.permission.POST_NOTIFICATIONS"), activity.requestedPermissions.toList())
        assertEquals(listOf(true, false, false), views().subList(2, 5).map { it.isEnabled })
        assertTrue(status().startsWith("text ${R.string.app_status_logged_out}"))
        logIn()
        assertTrue(status().startsWith("text ${R.string.app_status_registered}"))
        assertEquals("", (views()[1] as EditText).text.toString())
        assertEquals(listOf(false, true, true), views().subList(2, 5).map { it.isEnabled })
        assertTrue(server.bodies.any { "token of this app" in it.second })
        assertEquals("a key for senders", 1, server.log.count { it.endsWith("/key") })
        views()[3].performClick()
        assertEquals(listOf("POST https://ingest.example.com/api/notifications [Authorization] 0"), sent)
        val first = server.send("Secure confirmation.")
        push(first.rawValue)
        assertEquals(listOf<CharSequence>("Secure confirmation."), texts())
        // The session ends between push and fetch: prompt, log in, secret.
        server.endSessions()
        push(server.send("The second secret.").rawValue)
        assertEquals(listOf<CharSequence>("Secure confirmation.", "library 2 SP-401"), texts())
        activity.resume()
        assertTrue(status().startsWith("text ${R.string.app_status_logged_out}"))
        logIn()
        assertEquals(listOf<CharSequence>("Secure confirmation.", "The second secret."), texts())
        views()[4].performClick()
        assertEquals(emptyList<CharSequence>(), texts())
        assertTrue(status().startsWith("text ${R.string.app_status_logged_out}"))
    }

    /** A broadcast of the distributor, and what becomes of it on the SDK's threads. */
    private fun receive(broadcast: Intent) {
        val receiver = ExampleReceiver()
        receiver.onReceive(app, broadcast)
        val end = System.nanoTime() + 20_000_000_000
        while (receiver.ended < receiver.kept && System.nanoTime() < end) Thread.sleep(5)
        assertEquals(receiver.kept, receiver.ended)
    }

    @Test
    fun theFlowWithoutGoogle() {
        FirebaseMessaging.token = null
        activity.create()
        assertTrue(status().startsWith("text ${R.string.app_status_no_token}"))
        assertEquals(listOf(false, true), listOf(2, 5).map { views()[it].isEnabled })
        views()[5].performClick()
        assertTrue(status().startsWith("text ${R.string.app_status_no_distributor}"))
        UnifiedPush.installed["org.example.distributor"] = StandInDistributor()
        views()[5].performClick()
        assertTrue(status().startsWith("text ${R.string.app_status_logged_out}"))
        assertEquals(listOf(true, false), listOf(2, 5).map { views()[it].isEnabled })
        logIn()
        assertTrue(status().startsWith("text ${R.string.app_status_waiting_for_endpoint}"))
        val token = UnifiedPush.instances.values.single()
        receive(StandInDistributor.broadcast("NEW_ENDPOINT", token, "endpoint" to "https://up.example.org/1"))
        assertTrue(status().startsWith("text ${R.string.app_status_registered}"))
        val channel = JSONObject(server.installations.values.single()).getJSONObject("pushChannel")
        val sealer = WebPushSealer(channel.getString("p256dh"), channel.getString("auth"))
        val body = sealer.seal("{\"secureId\":\"${server.send("Secure confirmation.")}\"}")
        receive(StandInDistributor.broadcast("MESSAGE", token).putExtra("bytesMessage", body))
        assertEquals(listOf<CharSequence>("Secure confirmation."), texts())
        receive(StandInDistributor.broadcast("REGISTRATION_FAILED", token, "reason" to "ACTION_REQUIRED"))
        assertEquals("text ${R.string.app_failure_no_endpoint} ACTION_REQUIRED", status())
        views()[4].performClick()
        assertTrue(server.installations.isEmpty())
    }

    @After
    fun resetFirebase() {
        FirebaseMessaging.token = "token of this app"
    }

    private fun rows(of: Activity) =
        ((of.contentView as ScrollView).content as LinearLayout).views.map { it as TextView }

    private fun lines(of: Activity) = rows(of).map { it.text.toString() }

    /** Title, text and link; the sender asks, and shows a number. */
    @Test
    fun aMessageIsAnswered() {
        activity.create()
        activity.resume()
        logIn()
        val actions = JSONArray().put(JSONObject().put("Id", "approve").put("Title", "Approve"))
            .put(JSONObject().put("Id", "deny").put("Title", "Deny").put("Input", true))
        val payload = JSONObject().put("Title", "Login").put("Body", "Approve?").put("Link", "https://a")
            .put("Actions", actions)
        val id = server.send(payload)
        server.stored.last().answers = listOf("approve", "deny")
        server.stored.last().challenge = "42"
        val screen = MessageActivity().apply { attachBaseContext(app) }
        screen.intent = MessageActivity.intent(app, id.rawValue)
        screen.create()
        screen.resume()
        assertEquals(listOf("Login", "Approve?", "text ${R.string.app_message_link} https://a"), lines(screen).take(3))
        val (challenge, text, approve, deny, result) = rows(screen).drop(3)
        assertEquals(listOf("Approve", "Deny"), listOf(approve, deny).map { it.text.toString() })
        fun result() = result.text.toString().split(" ")[1].toInt()
        challenge.text = "41"
        deny.performClick()
        assertEquals(R.string.app_answer_wrong, result())
        challenge.text = " 42 "
        text.text = "Not me."
        deny.performClick()
        assertEquals(R.string.app_answer_sent, result())
        assertEquals("Not me.", server.stored.last().answer?.getString("Text"))
        approve.performClick()
        assertEquals(R.string.app_answer_other, result())
        server.stored.last().isRevoked = true
        approve.performClick()
        assertEquals(R.string.app_answer_over, result())
        // Only a real app knows what this is.
        screen.intent = MessageActivity.intent(app, server.send(JSONArray("[7]")).rawValue)
        screen.resume()
        assertEquals(listOf("[7]"), lines(screen))
    }

    @Test
    fun devicesAreListedAndRemoved() {
        activity.create()
        activity.resume()
        logIn()
        server.installations["z"] = "{\"installationId\":\"z\",\"platform\":\"apns\"}"
        views()[7].performClick()
        assertEquals(DevicesActivity::class.java, activity.started.last().target)
        val screen = DevicesActivity().apply { attachBaseContext(app) }
        screen.create()
        screen.resume()
        assertEquals(WindowManager.LayoutParams.FLAG_SECURE, screen.window.flags)
        val fingerprint = checkNotNull(app.securePushClient.encryptionKeyFingerprint())
        assertTrue(Regex("[0-9a-f]{4}( [0-9a-f]{4}){7}").matches(fingerprint))
        assertEquals("text ${R.string.app_fingerprint} $fingerprint", lines(screen)[0])
        val remove = rows(screen).single { "${R.string.app_device_remove} " in it.text }
        remove.performClick()
        assertEquals(1, server.installations.size)
        assertEquals(3, rows(screen).size)
        rows(screen).last().performClick()
        assertTrue(server.installations.isEmpty() && screen.isFinished)
        assertTrue(status().startsWith("text ${R.string.app_status_logged_out}"))
        screen.resume()
        assertTrue(lines(screen).single().endsWith("SP-LOGIN"))
    }

    /** From the list, and from a tap on the notification. */
    @Test
    fun messagesAreReadInTheApp() {
        activity.create()
        activity.resume()
        assertFalse(views()[6].isEnabled)
        logIn()
        val long = "a".repeat(10_000)
        val second = server.send(long)
        push(second.rawValue)
        val first = server.send("Another secret.")
        views()[6].performClick()
        assertEquals(listOf<Class<*>?>(MessagesActivity::class.java), activity.started.map { it.target })
        val list = MessagesActivity().apply { attachBaseContext(app) }
        list.create()
        list.resume()
        fun rows() = rows(list)
        assertEquals(listOf(R.string.app_message_new, R.string.app_message_read), rows().map { row ->
            row.text.toString().split(" ")[1].toInt()
        })
        assertTrue("the list has no texts", rows().none { "secret" in it.text })
        rows()[0].performClick()
        fun open(intent: Intent): MessageActivity {
            val screen = MessageActivity().apply { attachBaseContext(app) }
            screen.intent = intent
            screen.create()
            screen.resume()
            return screen
        }
        fun text(of: MessageActivity) = lines(of).joinToString()
        val screen = open(list.started.single())
        assertEquals("Another secret.", text(screen))
        assertEquals(WindowManager.LayoutParams.FLAG_SECURE, screen.window.flags)
        assertTrue(server.stored.first { it.id == first }.isRead)
        screen.stop()
        assertEquals("", text(screen))
        // A tap opens the message in its whole length, and the notification goes.
        activity.newIntent(Intent().putExtra("securepush.id", second.rawValue))
        assertEquals(long, text(open(activity.started.last())))
        assertEquals(emptyList<CharSequence>(), texts())
        views()[4].performClick()
        assertTrue("not after the log-out", text(open(activity.started.last())).endsWith("SP-LOGIN"))
        list.resume()
        assertTrue(rows().single().text.endsWith("SP-LOGIN"))
        val other = open(Intent())
        assertTrue(other.isFinished)
    }

    @Test
    fun aWrongPasswordIsTold() {
        activity.create()
        activity.resume()
        (views()[0] as EditText).setText("alice")
        (views()[1] as EditText).setText("wrong")
        views()[2].performClick()
        assertTrue(status().startsWith("text ${R.string.app_failure_password}"))
    }

    @Test
    fun aMissingKeyAndAFailedSendAreTold() {
        server.keyStatuses.add(422)
        activity.create()
        activity.resume()
        logIn()
        assertEquals("text ${R.string.app_failure_no_key} SP-422", status())
        assertEquals(1, server.installations.size)
        activity.resume()
        assertTrue("the key is sent again", status().startsWith("text ${R.string.app_status_registered}"))
        sendStatus = 404
        views()[3].performClick()
        assertEquals("text ${R.string.app_failure_not_sent} SP-404", status())
        assertEquals("text ${R.string.app_failure_gone} SP-410", app.failureText("SP-410"))
        assertEquals("text ${R.string.app_failure_not_trusted} SP-PLAIN", app.failureText("SP-PLAIN"))
    }

    @Test
    fun keysInTheAssetsTurnVerificationOn() {
        app.assets.files["push-keys.json"] = SimulatedDevice.jwkSet.toByteArray()
        app.credentials.logIn(SimulatedServer.USER, SimulatedServer.PASSWORD)
        val id = server.send("A secret.")
        push(id.rawValue)
        assertEquals(emptyList<CharSequence>(), texts())
        val device = SimulatedDevice(Simulation())
        device.simulation.dateOffset += System.currentTimeMillis() - device.simulation.date
        val service = SecurePushMessagingService()
        service.attachBaseContext(app)
        service.onMessageReceived(RemoteMessage(device.data(id)))
        assertEquals(listOf<CharSequence>("A secret."), texts())
    }
}
