package securepush.platform

import android.app.Application
import android.app.Notification
import android.app.NotificationManager
import android.app.PendingIntent
import android.app.RemoteInput
import android.os.Build
import org.json.JSONArray
import org.json.JSONObject
import org.junit.After
import org.junit.Assert.assertEquals
import org.junit.Assert.assertNull
import org.junit.Assert.assertTrue
import org.junit.Test
import securepush.IncomingPush
import securepush.MemoryClientStore
import securepush.SecurePushClient
import securepush.SecurePushConfiguration
import securepush.TokenCredentialsProvider
import securepush.Transport
import securepush.TransportException
import securepush.TransportRequest
import securepush.TransportResponse
import securepush.android.NotificationManagerPresenter
import securepush.android.R
import securepush.android.SecurePushAnswerReceiver
import securepush.android.SecurePushHost
import securepush.simulation.SimulatedServer

/** Answers by the buttons of a notification. */
class AnswerTests {
    private val server = SimulatedServer()
    private val manager = NotificationManager()
    private var isOffline = false
    private val version = Build.VERSION.SDK_INT

    private inner class App : Application(), SecurePushHost {
        init {
            services[NotificationManager::class.java] = manager
        }

        private val transport = object : Transport {
            override fun send(request: TransportRequest, timeout: Long, maxBytes: Int): TransportResponse {
                if (isOffline) throw TransportException(TransportException.Reason.UNTRUSTED)
                return server.respond(request)
            }
        }
        private val store = MemoryClientStore()
        val credentials = TokenCredentialsProvider(SimulatedServer.url, store, transport)

        override val securePushClient = SecurePushClient(
            SecurePushConfiguration(SimulatedServer.url), credentials, store, transport,
            NotificationManagerPresenter(this, 7)
        )
    }

    private val app = App()

    @After
    fun restore() {
        Build.VERSION.SDK_INT = version
    }

    /** Shows a message with two buttons. */
    private fun show(challenge: String? = null): Notification {
        app.credentials.logIn(SimulatedServer.USER, SimulatedServer.PASSWORD)
        val actions = JSONArray().put(JSONObject().put("Id", "approve").put("Title", "Approve"))
            .put(JSONObject().put("Id", "deny").put("Title", "Deny").put("Input", true))
        val id = server.send(JSONObject().put("Body", "Approve?").put("Actions", actions))
        server.stored.last().answers = listOf("approve", "deny")
        server.stored.last().challenge = challenge
        app.securePushClient.handle(IncomingPush.of(mapOf("secureId" to id.rawValue)))
        return manager.activeNotifications.last().notification
    }

    /** The user presses a button. */
    private fun press(action: Notification.Action, text: String? = null) {
        if (text != null) RemoteInput.answer(action.intent.intent, checkNotNull(action.input).key, text)
        val receiver = SecurePushAnswerReceiver()
        receiver.onReceive(app, action.intent.intent)
        val end = System.nanoTime() + 20_000_000_000
        while (receiver.ended < receiver.kept && System.nanoTime() < end) Thread.sleep(5)
        assertEquals(1, receiver.ended)
    }

    private fun texts() = manager.activeNotifications.map { it.notification.text }

    @Test
    fun anAnswerIsSentAndTheNotificationGoes() {
        val (approve, deny) = show().actions
        assertEquals(listOf("Approve", "Deny"), listOf(approve.title, deny.title))
        assertTrue("only after the unlock", approve.isAuthenticationRequired && deny.isAuthenticationRequired)
        assertNull(approve.input)
        assertTrue(approve.intent.flags and PendingIntent.FLAG_IMMUTABLE != 0)
        assertTrue("the system writes the text into it", deny.intent.flags and PendingIntent.FLAG_MUTABLE != 0)
        assertTrue("two intents", approve.intent.intent.data.toString() != deny.intent.intent.data.toString())
        press(deny, "Not me.")
        val answer = checkNotNull(server.stored[0].answer)
        assertEquals("deny Not me.", "${answer.getString("Action")} ${answer.getString("Text")}")
        assertTrue(texts().isEmpty())
        press(approve)
        assertEquals(listOf("text ${R.string.securepush_answer_too_late}"), texts())
    }

    @Test
    fun anAnswerThatDoesNotCountIsTold() {
        val (approve) = show(challenge = "42").actions
        press(approve)
        assertEquals(listOf("text ${R.string.securepush_answer_in_app}"), texts())
        isOffline = true
        press(approve)
        assertEquals(listOf("text ${R.string.securepush_answer_not_sent}"), texts())
        isOffline = false
        server.stored[0].isRevoked = true
        press(approve)
        assertEquals(listOf("text ${R.string.securepush_answer_too_late}"), texts())
        assertNull(server.stored[0].answer)
    }

    /** Android 11 and older have neither of both flags. */
    @Test
    fun buttonsOfOlderVersions() {
        Build.VERSION.SDK_INT = 30
        val (approve, deny) = show().actions
        assertTrue(approve.intent.flags and PendingIntent.FLAG_IMMUTABLE != 0)
        assertEquals(PendingIntent.FLAG_UPDATE_CURRENT, deny.intent.flags)
        assertTrue(!approve.isAuthenticationRequired)
        press(approve)
        assertEquals("approve", server.stored[0].answer?.getString("Action"))
    }
}
