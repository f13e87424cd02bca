package securepush.units

import java.net.URI
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.CountDownLatch
import java.util.concurrent.Executors
import java.util.concurrent.TimeUnit
import org.junit.Assert.assertEquals
import org.junit.Assert.assertTrue
import org.junit.Test
import securepush.ClientCredentials
import securepush.DiagnosticCode
import securepush.FixedCredentialsProvider
import securepush.GenericNotice
import securepush.IncomingPush
import securepush.LogInPrompt
import securepush.MemoryClientStore
import securepush.NotificationPresenter
import securepush.PushID
import securepush.SecretNotification
import securepush.SecurePushClient
import securepush.SecurePushConfiguration
import securepush.Transport
import securepush.TransportRequest
import securepush.TransportResponse
import securepush.WakeReport
import securepush.simulation.RequestFaults
import securepush.simulation.SimulatedDevice
import securepush.simulation.SimulatedServer
import securepush.simulation.Simulation

class WakeTests {
    private val simulation = Simulation()
    private val device = SimulatedDevice(simulation)

    @Test
    fun theTutorialsFlow() {
        simulation.run {
            device.logIn()
            device.server.endSessions()
            val app = device.start()
            val ids = (1..2).map { device.server.send() }
            val codes = ids.map { app.client.handle(device.push(it)).code }
            assertEquals(listOf(DiagnosticCode.status(401), DiagnosticCode.LOGGED_OUT), codes)
            assertEquals(2, device.screen.prompts.size)
            assertEquals(ids, device.screen.prompts.last().ids)
            assertTrue(device.screen.shown.isEmpty() && device.screen.isPrompting)
            app.credentials.logIn(SimulatedServer.USER, SimulatedServer.PASSWORD)
            val report = app.client.resumeAfterLogIn()
            assertEquals(ids, report.shown)
            assertTrue(!device.screen.isPrompting)
            assertEquals(ids.map { it.rawValue }.toSet(), device.server.shownReports)
            assertEquals(0, device.screen.badges.last())
        }
    }

    /** A fetch of the catch-up ends with the wake: the user sees the generic text in time, and the secret later. */
    @Test
    fun theGenericTextReplacesWhatTheEndOfAWakeInterrupts() {
        simulation.run {
            device.logIn()
            val faults = RequestFaults()
            val client = device.start(faults = faults).client
            faults.fail("GET /api/notifications?") { SimulatedServer.refusal(503, mapOf("Retry-After" to "20")) }
            val id = device.server.send()
            faults.fail("GET /api/notifications/$id", 9) {
                simulation.sleep(600_000)
                null
            }
            val begin = simulation.uptime
            assertEquals(DiagnosticCode.TIMED_OUT, client.catchUp().code)
            assertEquals(24_950, simulation.uptime - begin)
            assertEquals(listOf(id), device.screen.notices.map { it.id })
            assertEquals(listOf(id), client.waiting())
            faults.clear()
            assertEquals(listOf(id), client.catchUp().shown)
        }
    }

    @Test
    fun anotherUserSeesNothingOfTheLastOne() {
        simulation.run {
            device.logIn()
            val app = device.start()
            val id = device.server.send()
            app.client.handle(device.push(id))
            app.credentials.logInWithToken("bob", "no token")
            app.client.resumeAfterLogIn()
            assertTrue(device.screen.visible.isEmpty())
            assertEquals(setOf(id), device.screen.removed.toSet())
            // A push that was signed for the last user is ignored.
            val requests = device.server.log.size
            val report = app.client.handle(device.push(device.server.send()))
            assertEquals(WakeReport(code = DiagnosticCode.BAD_SIGNATURE), report)
            assertEquals(requests, device.server.log.size)
        }
    }

    /** A fetch is in flight while the user logs out, or another one logs in. */
    @Test
    fun noSecretOfTheLastUserIsShownLater() {
        for (seed in 0L..20L) {
            val simulation = Simulation(seed)
            val device = SimulatedDevice(simulation)
            simulation.run {
                device.logIn()
                val app = device.start()
                val ids = (1..3).map { device.server.send() }
                val done = simulation.newSignal()
                simulation.start {
                    app.client.handle(device.push(ids[0]))
                    done.set()
                }
                simulation.sleep(10 + seed * 8)
                if (seed % 2 == 0L) app.client.unregister() else app.credentials.logInWithToken("bob", "no token")
                if (seed % 2 == 1L) app.client.resumeAfterLogIn()
                assertTrue(done.await(60_000))
                assertTrue("seed $seed: ${device.screen.visible}", device.screen.visible.isEmpty())
            }
        }
    }

    @Test
    fun aRefreshInFlightDoesNotUndoALogOut() {
        simulation.run {
            device.logIn()
            device.server.revokeAccessTokens()
            val app = device.start()
            val id = device.server.send()
            val done = simulation.newSignal()
            simulation.start {
                app.client.handle(device.push(id))
                done.set()
            }
            // The fetch was refused, and the refresh is on its way.
            simulation.sleep(75)
            app.credentials.logOut()
            assertTrue(done.await(60_000))
            assertEquals(null, app.credentials.userName())
            assertEquals(0, device.screen.count(id))
        }
    }

    /** Twenty pushes at once send one report for each secret. */
    @Test
    fun wakesAtTheSameTimeReportOnce() {
        val simulation = Simulation(7)
        val device = SimulatedDevice(simulation)
        simulation.run {
            device.logIn()
            val app = device.start()
            val ids = (1..20).map { device.server.send() }
            val ends = ids.map { id ->
                val done = simulation.newSignal()
                simulation.start {
                    app.client.handle(device.push(id))
                    done.set()
                }
                done
            }
            assertTrue(ends.all { it.await(60_000) })
            app.client.catchUp()
            assertEquals(20, device.server.log.count { it.endsWith("/shown") })
        }
    }

    /** A thread that is interrupted ends its wake soon, and keeps what waits. */
    @Test
    fun anInterruptEndsAWake() {
        val store = MemoryClientStore()
        val entered = CountDownLatch(1)
        val client = client(store, Screen()) {
            entered.countDown()
            Thread.sleep(60_000)
            TransportResponse(500)
        }
        var report: WakeReport? = null
        val thread = Thread { report = client.handle(push("a")) }
        thread.start()
        entered.await()
        thread.interrupt()
        thread.join(5_000)
        assertEquals(DiagnosticCode.TIMED_OUT, report?.code)
        assertEquals(listOf(PushID.of("a")), client.waiting())
    }

    /** No simulation: fifty pushes on fifty threads. */
    @Test
    fun fiftyPushesOnRealThreads() {
        val ids = (1..50).map { "id-%02d".format(it) }
        for (round in 1..5) {
            val screen = Screen()
            val store = MemoryClientStore()
            val clients = (1..2).map { client(store, screen) { request -> answer(request, ids) } }
            val threads = Executors.newCachedThreadPool()
            val begin = CountDownLatch(1)
            for ((number, id) in (ids + ids).withIndex()) {
                threads.execute {
                    begin.await()
                    clients[number % 2].handle(push(id))
                }
            }
            begin.countDown()
            threads.shutdown()
            assertTrue(threads.awaitTermination(60, TimeUnit.SECONDS))
            clients[0].catchUp()
            assertEquals(ids.toSet(), screen.shown.keys)
            assertEquals(setOf(1), screen.shown.values.toSet())
        }
    }

    private fun push(id: String) = IncomingPush.of(mapOf("secureId" to id))

    private fun client(
        store: MemoryClientStore, screen: Screen, answer: (TransportRequest) -> TransportResponse
    ): SecurePushClient {
        val transport = object : Transport {
            override fun send(request: TransportRequest, timeout: Long, maxBytes: Int) = answer(request)
        }
        return SecurePushClient(
            SecurePushConfiguration(URI("https://push.example.com")),
            FixedCredentialsProvider("alice", ClientCredentials.bearer("token")), store, transport, screen
        )
    }

    private fun answer(request: TransportRequest, ids: List<String>): TransportResponse {
        val path = request.url.path
        if (path.endsWith("/shown")) return TransportResponse(204)
        val body = if (path.endsWith("/api/notifications")) {
            val after = (request.url.query ?: "").split("&").find { it.startsWith("After=") }?.substring(6) ?: ""
            val list = ids.filter { it > after }.joinToString(",") { "{\"Id\":\"$it\",\"Read\":false}" }
            "{\"Notifications\":[$list],\"Unread\":0}"
        } else {
            "{\"Id\":\"${path.substringAfterLast("/")}\",\"Payload\":\"secret\",\"Read\":false,\"Unread\":0}"
        }
        return TransportResponse(200, body = body.toByteArray())
    }

    private class Screen : NotificationPresenter {
        val shown = ConcurrentHashMap<String, Int>()

        override fun show(secret: SecretNotification) {
            shown.merge(secret.id.rawValue, 1) { a, b -> a + b }
        }

        override fun show(notice: GenericNotice) = Unit
        override fun show(prompt: LogInPrompt) = Unit
        override fun remove(ids: List<PushID>) = Unit
        override fun removePrompt() = Unit
        override fun setBadge(count: Int) = Unit
        override fun displayedSecrets(): Set<PushID>? = null
    }
}
