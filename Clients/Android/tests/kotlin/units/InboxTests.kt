package securepush.units

import java.time.Instant
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertNull
import org.junit.Assert.assertTrue
import org.junit.Test
import securepush.DiagnosticCode
import securepush.PushDevice
import securepush.PushID
import securepush.SecurePushFailure
import securepush.TransportResponse
import securepush.simulation.RequestFaults
import securepush.simulation.SimulatedDevice
import securepush.simulation.Simulation

/** Messages and devices inside the app. */
class InboxTests {
    private val simulation = Simulation()
    private val device = SimulatedDevice(simulation)
    private val server = device.server
    private val faults = RequestFaults()
    private fun client() = device.start(faults = faults).client

    private fun code(action: () -> Unit): String? = try {
        action()
        null
    } catch (e: SecurePushFailure) {
        e.code.rawValue
    }

    private fun json(text: String) =
        TransportResponse(200, mapOf("Content-Type" to "application/json"), text.toByteArray())

    @Test
    fun theInboxIsListedInPages() = simulation.run {
        device.logIn()
        val ids = (1..201).map { server.send() }
        client().read(ids[0])
        val first = client().inbox()
        assertEquals(ids.take(200), first.entries.map { it.id })
        assertEquals(listOf(true, false), first.entries.take(2).map { it.isRead })
        assertEquals(Instant.parse("2026-11-22T10:00:00Z"), first.entries[0].createdAt)
        assertEquals(200, first.unread)
        val second = client().inbox(first.next)
        assertEquals(ids.drop(200), second.entries.map { it.id })
        assertNull(second.next)
        assertEquals(ids[1], client().inbox(unreadOnly = true).entries.first().id)
        assertTrue("nothing is shown", device.screen.shown.isEmpty() && device.screen.hints == 0)
        faults.disconnect("GET")
        assertEquals("SP-OFFLINE", code { client().inbox() })
    }

    @Test
    fun aReadSecretIsNotShown() = simulation.run {
        device.logIn()
        val text = "a".repeat(20_000)
        val id = server.send(text)
        assertEquals(text, client().read(id).text)
        assertTrue(device.screen.shown.isEmpty())
        assertEquals(0, device.screen.badges.last())
        assertEquals("SP-404", code { client().read(checkNotNull(PushID.of("unknown"))) })
        server.stored[0].isRevoked = true
        assertEquals("SP-410", code { client().read(id) })
        faults.fail("GET") { json("{\"Id\":\"other\",\"Payload\":1}") }
        assertEquals("SP-ID", code { client().read(id) })
        server.endSessions()
        assertEquals("SP-401", code { client().read(id) })
    }

    /** The app shows what a push names, once. */
    @Test
    fun theSecretOfAPush() = simulation.run {
        device.logIn()
        val id = server.send("A secret.")
        faults.disconnect("GET")
        assertEquals("SP-OFFLINE", code { client().secret(device.push(id)) })
        faults.clear()
        assertEquals(listOf(id), client().waiting())
        assertEquals("A secret.", client().secret(device.push(id))?.text)
        assertNull("a repeated push", client().secret(device.push(id)))
        client().handle(device.push(id))
        client().catchUp()
        assertTrue(device.screen.shown.isEmpty() && device.screen.hints == 0)
        assertEquals(setOf(id.rawValue), server.shownReports)
        assertEquals("SP-SIGNATURE", code { client().secret(securepush.IncomingPush.of(mapOf("secureId" to "x"))) })
        assertNull(client().secret(device.push(id, withdraw = true)))
        server.endSessions()
        assertEquals("SP-401", code { client().secret(device.push(server.send())) })
    }

    /** Otherwise the next call of `register` would take the device for registered, and no pushes would come. */
    @Test
    fun thisDeviceCanBeRegisteredAgainAfterItWasRemoved() = simulation.run {
        device.logIn()
        val client = client()
        val own = PushDevice(PushDevice.Platform.FCM_V1, "channel")
        // The server compares IDs without regard to case, so a list may have another spelling.
        val id = client.register(own)
        server.installations[id] = "{\"installationId\":\"${id.toUpperCase()}\",\"platform\":\"fcmv1\"}"
        val listed = client.devices().single()
        assertTrue(listed.isThisDevice)
        client.removeDevice(listed.id)
        assertTrue(server.installations.isEmpty())
        assertEquals("still logged in", "alice", device.start().credentials.userName())
        assertEquals(setOf(client.register(own)), server.installations.keys)
    }

    @Test
    fun devicesAreListedAndRemoved() = simulation.run {
        device.logIn()
        val client = client()
        val id = client.register(PushDevice(PushDevice.Platform.FCM_V1, "channel"))
        for (name in listOf("a", "b", "z")) {
            server.installations[name] = "{\"installationId\":\"$name\",\"platform\":\"apns\"}"
        }
        val devices = client.devices()
        assertEquals(setOf("a", "b", "z", id), devices.map { it.id }.toSet())
        assertEquals(listOf(id), devices.filter { it.isThisDevice }.map { it.id })
        assertEquals(Instant.parse("2026-11-22T00:00:00Z"), devices[0].lastSeenAt)
        assertEquals(setOf("apns", "fcmv1"), devices.map { it.platform }.toSet())
        client.removeDevice("a")
        assertFalse("a" in server.installations)
        for (text in listOf("", "..", "a/b", "a?b", "a".repeat(129))) {
            try {
                client.removeDevice(text)
                throw IllegalStateException(text)
            } catch (e: IllegalArgumentException) {
                continue
            }
        }
        for (text in listOf("{}", "{\"Installations\":[1]}", "{\"Installations\":[],\"Next\":\"../x\"}", "[]")) {
            faults.fail("GET") { json(text) }
            assertEquals(text, "SP-JSON", code { client.devices() })
        }
        faults.disconnect("DELETE")
        assertEquals(DiagnosticCode.UNREACHABLE.rawValue, code { client.signOutEverywhere() })
        assertEquals("still logged in", listOf(id), client.devices().filter { it.isThisDevice }.map { it.id })
        faults.clear()
        client.signOutEverywhere()
        assertTrue(server.installations.isEmpty())
        assertNull(device.start().credentials.userName())
    }
}
