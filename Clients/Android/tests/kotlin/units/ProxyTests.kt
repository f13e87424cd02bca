package securepush.units

import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertNull
import org.junit.Assert.assertTrue
import org.junit.Assert.fail
import org.junit.Test
import securepush.ClientStateCoding
import securepush.DiagnosticCode
import securepush.PushDevice
import securepush.SecurePushFailure
import securepush.StoredCredentials
import securepush.TransportResponse
import securepush.simulation.RequestFaults
import securepush.simulation.SimulatedDevice
import securepush.simulation.SimulatedServer
import securepush.simulation.Simulation

/** What a proxy or a captive portal answers says nothing of the server. */
class ProxyTests {
    private val channel = PushDevice(PushDevice.Platform.FCM_V1, "token")

    private fun json(status: Int, body: String) =
        TransportResponse(status, mapOf("Content-Type" to "application/json"), body.toByteArray())

    /** Kong, Traefik and others answer with JSON. */
    private fun gateway(status: Int) = TransportResponse(
        status, mapOf("Content-Type" to "application/json", "WWW-Authenticate" to "Bearer realm=\"gateway\""),
        "{\"message\":\"no Route matched\"}".toByteArray()
    )

    /** Answers to a refresh that say nothing of the session. */
    private val strangers = mapOf(
        "400 text/html" to SimulatedServer.ofProxy(400),
        "400 with another error" to json(400, "{\"error\":\"invalid_request\"}"),
        "400 without a body" to TransportResponse(400),
        "400 with half a JSON" to json(400, "{\"error\":\"invalid_grant\""),
        "400 text/html that says invalid_grant" to SimulatedServer.ofProxy(400, "{\"error\":\"invalid_grant\"}"),
        "401 text/html" to SimulatedServer.ofProxy(401),
        "401 text/html with a challenge" to
            TransportResponse(401, mapOf("Content-Type" to "text/html", "WWW-Authenticate" to "Bearer")),
        "401 without a challenge" to TransportResponse(401),
        "401 for the proxy" to TransportResponse(401, mapOf("WWW-Authenticate" to "Basic realm=\"proxy\"")),
        "401 of a gateway" to json(401, "{\"message\":\"Unauthorized\"}"),
        "401 of a gateway with a challenge" to gateway(401),
        "400 without a type" to TransportResponse(400, body = "{\"error\":\"invalid_grant\"}".toByteArray()),
        "403 text/html" to SimulatedServer.ofProxy(403),
        "404 text/plain" to TransportResponse(404, mapOf("Content-Type" to "text/plain")),
        "407" to TransportResponse(407),
        "502 text/html" to SimulatedServer.ofProxy(502),
        "511 text/html" to SimulatedServer.ofProxy(511),
        "a redirect" to TransportResponse(302),
        "200 text/html" to SimulatedServer.ofProxy(200),
        "200 without a body" to TransportResponse(200),
        "200 without the members" to json(200, "{\"ok\":true}"),
        "200 text/html with the members" to SimulatedServer.ofProxy(200, "{\"access_token\":\"stolen\"}"),
        "204" to TransportResponse(204)
    )

    private class Phone(simulation: Simulation) {
        val device = SimulatedDevice(simulation)
        val faults = RequestFaults()
        val app = device.start(faults = faults, encryptsEndToEnd = true)
        val credentials: StoredCredentials?
            get() = device.disk.credentials?.let { ClientStateCoding.decodeCredentials(it) }
    }

    private fun run(body: Phone.() -> Unit) {
        val simulation = Simulation()
        simulation.run {
            val phone = Phone(simulation)
            phone.device.logIn()
            phone.body()
        }
    }

    private fun code(action: () -> Unit): String? = try {
        action()
        null
    } catch (e: SecurePushFailure) {
        e.code.rawValue
    }

    @Test
    fun anAnswerToTheRefreshThatIsNotTheServersKeepsTheSession() {
        for ((name, answer) in strangers) run {
            val id = device.server.send()
            device.server.revokeAccessTokens()
            val token = credentials?.refreshToken
            faults.fail("POST /api/token", 20) { answer }
            assertEquals(name, DiagnosticCode.CREDENTIALS, app.client.handle(device.push(id)).code)
            assertEquals(name, 0, device.screen.prompts.size)
            assertEquals(name, token, credentials?.refreshToken)
            faults.clear()
            assertEquals(name, listOf(id), app.client.catchUp().shown)
        }
    }

    @Test
    fun theServersOwnAnswerEndsTheSession() {
        val challenge = "Basic realm=\"x\", Bearer error=\"invalid_token\""
        val answers = listOf(
            TransportResponse(401, mapOf("Content-Type" to "application/problem+json; charset=utf-8")),
            TransportResponse(401, mapOf("WWW-Authenticate" to challenge)),
            json(400, "{\"error\":\"invalid_grant\"}")
        )
        for (answer in answers) run {
            val id = device.server.send()
            device.server.revokeAccessTokens()
            faults.fail("POST /api/token") { answer }
            assertEquals(DiagnosticCode.status(401), app.client.handle(device.push(id)).code)
            assertEquals(1, device.screen.prompts.size)
            assertNull(credentials?.refreshToken)
        }
    }

    @Test
    fun thePageOfACaptivePortalIsNoSuccessAtAnyRoute() {
        val pages = listOf(
            SimulatedServer.ofProxy(200), SimulatedServer.ofProxy(200, ""), json(200, "{\"status\":\"blocked\"}"),
            TransportResponse(202)
        )
        for (page in pages) run {
            fun meets(prefix: String, action: () -> Unit) {
                faults.fail(prefix, 20) { page }
                action()
                faults.clear()
            }
            fun fails(prefix: String, action: () -> Unit) = meets(prefix) { assertEquals("SP-JSON", code(action)) }
            fails("PUT /api/installations") { app.client.register(channel) }
            fails("PUT /api/devices") { app.client.register(channel) }
            app.client.register(channel)
            val id = device.server.send()
            meets("GET /api/notifications/") {
                assertEquals("SP-JSON", app.client.handle(device.push(id)).code?.rawValue)
            }
            meets("GET /api/notifications?") { assertEquals("SP-JSON", app.client.catchUp().code?.rawValue) }
            meets("POST /api/notifications/") { assertEquals(listOf(id), app.client.catchUp().shown) }
            assertTrue(device.server.shownReports.isEmpty())
            app.client.catchUp()
            assertEquals(setOf(id.rawValue), device.server.shownReports)
            fails("POST /api/notifications/read") { app.client.markAsRead(listOf(id)) }
            fails("POST /api/notifications/read") { app.client.markAsReadThrough(id) }
            meets("DELETE /api/installations") { assertFalse(app.client.unregister()) }
        }
    }

    @Test
    fun a204IsNoSuccessWhereTheRouteHas200() = run {
        faults.fail("PUT /api/installations", 20) { TransportResponse(204) }
        assertEquals("SP-JSON", code { app.client.register(channel) })
    }

    /** Until the server has answered, the report is sent again. */
    @Test
    fun aReportIsDoneOnlyByTheServersAnswer() {
        val page = SimulatedServer.ofProxy(511)
        for (answer in listOf(TransportResponse(302), page, TransportResponse(503), TransportResponse(429))) run {
            val ids = (1..2).map { device.server.send() }
            faults.fail("POST", 20) { answer }
            assertEquals(ids.toSet(), app.client.catchUp().shown.toSet())
            assertEquals(ids, device.disk.read().unreported.map { it.id })
            faults.clear()
            app.client.catchUp()
            assertEquals(ids.map { it.rawValue }.toSet(), device.server.shownReports)
        }
        for (status in listOf(404, 422)) run {
            val id = device.server.send()
            faults.fail("POST", 20) { SimulatedServer.refusal(status) }
            assertEquals(listOf(id), app.client.catchUp().shown)
            assertTrue(device.disk.read().unreported.isEmpty())
        }
    }

    @Test
    fun aRefusalOfAProxyEndsNothing() {
        for (status in listOf(401, 403, 404, 410)) for (body in listOf("<html></html>", null)) run {
            fun refusal() = if (body == null) gateway(status) else SimulatedServer.ofProxy(status, body)
            val first = app.client.register(channel)
            val id = device.server.send()
            faults.fail("GET /api/notifications/", 20) { refusal() }
            assertEquals("SP-JSON", app.client.handle(device.push(id)).code?.rawValue)
            assertEquals(listOf(id), app.client.waiting())
            assertEquals(0, device.screen.prompts.size)
            faults.clear()
            assertEquals(listOf(id), app.client.catchUp().shown)
            faults.fail("HEAD", 20) { TransportResponse(status, refusal().headers) }
            app.client.handle(device.push(id, withdraw = true))
            assertEquals(setOf(id), device.screen.visible)
            faults.clear()
            device.simulation.dateOffset += 8 * 86_400_000L
            faults.fail("PUT /api/installations", 20) { refusal() }
            assertEquals("SP-JSON", code { app.client.register(channel) })
            faults.clear()
            assertEquals(first, app.client.register(channel))
            faults.fail("POST /api/token") { refusal() }
            if (code { app.credentials.logIn("alice", "secret") } == null) fail("It is no log-in.")
            assertNull(credentials?.password)
        }
    }
}
