package securepush.units

import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.GlobalScope
import kotlinx.coroutines.async
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import org.junit.Assert.assertEquals
import org.junit.Assert.assertNotEquals
import org.junit.Assert.assertTrue
import org.junit.Test
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import securepush.MemoryClientStore
import securepush.PushDevice
import securepush.SecurePushClient
import securepush.SecurePushConfiguration
import securepush.SecurePushFailure
import securepush.TokenCredentialsProvider
import securepush.Transport
import securepush.TransportRequest
import securepush.TransportResponse
import securepush.logInSuspending
import securepush.simulation.SimulatedScreen
import securepush.simulation.SimulatedServer
import securepush.suspending

/** The functions for coroutines, on real threads. */
class CoroutineTests {
    private val server = SimulatedServer()
    private val store = MemoryClientStore()
    private val screen = SimulatedScreen()
    @Volatile private var hangs = false
    private val isCalled = CountDownLatch(1)
    private val isInterrupted = CountDownLatch(1)
    @Volatile private var thread = ""

    private val transport = object : Transport {
        override fun send(request: TransportRequest, timeout: Long, maxBytes: Int): TransportResponse {
            thread = Thread.currentThread().name
            if (hangs) hang()
            return synchronized(server) { server.respond(request) }
        }

        private fun hang() {
            isCalled.countDown()
            try {
                Thread.sleep(60_000)
            } catch (e: InterruptedException) {
                isInterrupted.countDown()
                throw e
            }
        }
    }
    private val credentials = TokenCredentialsProvider(SimulatedServer.url, store, transport)
    private val client = SecurePushClient(
        SecurePushConfiguration(SimulatedServer.url), credentials, store, transport, RealScreen(screen)
    )

    /** The screen without the simulation's threads. */
    private class RealScreen(private val screen: SimulatedScreen) : securepush.NotificationPresenter {
        override fun show(secret: securepush.SecretNotification) {
            screen.visible.add(secret.id)
        }

        override fun show(notice: securepush.GenericNotice) = Unit
        override fun show(prompt: securepush.LogInPrompt) = Unit
        override fun remove(ids: List<securepush.PushID>) {
            screen.visible.removeAll(ids)
        }

        override fun removePrompt() = Unit
        override fun setBadge(count: Int) = Unit
        override fun displayedSecrets() = HashSet(screen.visible)
    }

    @Test
    fun theFlowOfAnAppWithCoroutines() = runBlocking {
        withTimeout(60_000) {
            try {
                credentials.logInSuspending(SimulatedServer.USER, "wrong")
                throw IllegalStateException()
            } catch (e: SecurePushFailure) {
                assertEquals("SP-401", e.code.rawValue)
            }
            credentials.logInSuspending(SimulatedServer.USER, SimulatedServer.PASSWORD)
            val own = Thread.currentThread()
            val id = client.suspending.register(PushDevice(PushDevice.Platform.FCM_V1, "channel"))
            assertEquals("it comes back to its thread", own, Thread.currentThread())
            assertNotEquals("the work was on another one", own.name, thread)
            val sent = server.send("A secret.")
            assertEquals(listOf(sent), client.suspending.catchUp().shown)
            val both = listOf(
                async { client.suspending.inbox().entries.size.toString() },
                async { client.suspending.read(sent).text }
            )
            assertEquals(listOf("1", "A secret."), both.map { it.await() })
            assertEquals(listOf(id), client.suspending.devices().map { it.id })
            assertTrue(client.suspending.logOut())
            assertTrue(screen.visible.isEmpty())
        }
    }

    @Test
    fun aCancelledCoroutineInterruptsTheWork() = runBlocking {
        credentials.logIn(SimulatedServer.USER, SimulatedServer.PASSWORD)
        hangs = true
        val job = GlobalScope.launch(Dispatchers.Default) { client.suspending.catchUp() }
        assertTrue(isCalled.await(20, TimeUnit.SECONDS))
        val begin = System.nanoTime()
        job.cancel()
        job.join()
        assertTrue(isInterrupted.await(20, TimeUnit.SECONDS))
        assertTrue("not the whole wake", System.nanoTime() - begin < TimeUnit.SECONDS.toNanos(20))
    }
}
