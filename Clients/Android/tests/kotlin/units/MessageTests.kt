package securepush.units

import java.time.Instant
import org.json.JSONArray
import org.json.JSONObject
import org.junit.Assert.assertEquals
import org.junit.Assert.assertNull
import org.junit.Assert.assertTrue
import org.junit.Test
import securepush.AnswerFailure
import securepush.DiagnosticCode
import securepush.Display
import securepush.GenericNotice
import securepush.PushDevice
import securepush.PushID
import securepush.SecurePushFailure
import securepush.WakeReport
import securepush.simulation.RequestFaults
import securepush.simulation.SimulatedDevice
import securepush.simulation.Simulation

/** Messages: how much of them the system gets and for how long, answers, and what the server is told. */
class MessageTests {
    private val simulation = Simulation()
    private val device = SimulatedDevice(simulation)
    private val server = device.server
    private val faults = RequestFaults()
    private fun client(display: Display = Display.FULL) = device.start(faults = faults, display = display).client

    private fun push(id: PushID, display: Display = Display.FULL): WakeReport = client(display).handle(device.push(id))

    private fun send(payload: Any = message("Approve?"), display: String? = null, expiresIn: Long? = null): PushID {
        val id = server.send(payload)
        server.stored.last().display = display
        server.stored.last().expiresAt = expiresIn?.let { simulation.date + it }
        return id
    }

    private fun message(body: String) = JSONObject().put("Title", "Login").put("Body", body)

    private fun code(action: () -> Unit): String? = try {
        action()
        null
    } catch (e: SecurePushFailure) {
        e.code.rawValue
    }

    /** What the server was told of a notification, in order. */
    private fun reports(id: PushID) =
        server.bodies.filter { it.first == "POST /api/notifications/$id/shown" }.map { JSONObject(it.second) }

    @Test
    fun theStricterDisplayHolds() = simulation.run {
        device.logIn()
        val values = listOf(null, "full", "redacted", "app", "of a later server")
        for ((number, sent) in values.withIndex()) {
            for (own in Display.values()) {
                val id = send(message("$number $own"), sent)
                val expected = maxOf(own, if (number < 2) Display.FULL else Display.values()[minOf(2, number - 1)])
                val report = push(id, own)
                assertEquals(WakeReport.Result.NEW_DATA, report.result)
                assertNull(report.code)
                val isShown = expected != Display.APP
                assertEquals("$sent $own", if (isShown) listOf(id) else emptyList(), report.shown)
                assertEquals(if (isShown) 1 else 0, device.screen.count(id))
                val notice = GenericNotice(id, GenericNotice.Kind.GENERIC, null)
                assertEquals(if (isShown) 0 else 1, device.screen.notices.count { it == notice })
                assertEquals(expected, client(own).read(id).display)
            }
        }
    }

    /** The app reads what the system did not get. The server learns both. */
    @Test
    fun whatIsForTheAppIsReportedWhenTheAppReadsIt() = simulation.run {
        device.logIn()
        val installation = client().register(PushDevice(PushDevice.Platform.FCM_V1, "token"))
        val (hidden, odd) = listOf(send(display = "app"), send(JSONArray(listOf(1, 2))))
        push(hidden)
        for (id in listOf(hidden, odd)) {
            assertEquals(listOf("generic"), reports(id).map { it.getString("Text") })
            assertTrue(!reports(id).single().has("Code"))
        }
        push(hidden)
        assertEquals("nothing new", 1, reports(hidden).size)
        assertEquals("Approve?", client().read(hidden).text)
        assertNull(client().read(odd).text)
        simulation.sleep(1_000)
        client().read(hidden)
        simulation.sleep(1_000)
        for (id in listOf(hidden, odd)) {
            assertEquals(listOf("generic", "secret"), reports(id).map { it.getString("Text") })
        }
        val last = reports(odd).last()
        assertEquals(installation, last.getString("DeviceId"))
        assertTrue(last.getString("Sdk").startsWith("android/0."))
    }

    @Test
    fun aGenericTextIsReportedOnceWithItsCode() = simulation.run {
        device.logIn()
        val malformed = JSONObject().put("e2e", 1)
        val early = send(malformed)
        push(early)
        assertTrue("the device is not registered", reports(early).isEmpty())
        client().register(PushDevice(PushDevice.Platform.FCM_V1, "token"))
        val id = send(malformed)
        for (round in 1..2) push(id)
        for (other in listOf(early, id)) assertEquals(listOf("SP-DECRYPT"), reports(other).map { it.getString("Code") })
        val gone = send()
        server.stored.last().isRevoked = true
        push(gone)
        assertTrue("the server has nothing to note", reports(gone).isEmpty())
        // Without a network the report waits. The secret takes its place.
        val late = send()
        faults.disconnect("")
        push(late)
        faults.clear()
        assertEquals(listOf(late), client().catchUp().shown)
        assertEquals(listOf("secret"), reports(late).map { it.getString("Text") })
    }

    @Test
    fun whatHasExpiredLeavesTheScreen() = simulation.run {
        device.logIn()
        val (short, long) = listOf(send(expiresIn = 60_000), send(expiresIn = 3_600_000))
        val late = send(expiresIn = 30_000)
        assertEquals(Instant.ofEpochMilli(simulation.date + 60_000), client().read(short).expiresAt)
        push(short)
        assertEquals(setOf(short, long, late), device.screen.visible)
        simulation.sleep(31_000)
        client().catchUp()
        assertEquals(setOf(short, long), device.screen.visible)
        simulation.sleep(31_000)
        push(send())
        assertTrue(short !in device.screen.visible && long in device.screen.visible)
        assertEquals("once each", 2, device.screen.removed.size)
        // The server's clock is behind, so it still gives what has expired.
        val over = send(expiresIn = 0)
        assertEquals(DiagnosticCode.EXPIRED, push(over).code)
        assertEquals(0, device.screen.count(over))
        assertEquals("SP-EXPIRED", code { client().read(over) })
        assertTrue(client().waiting().isEmpty())
    }

    @Test
    fun theInboxCanHaveMessages() = simulation.run {
        device.logIn()
        val ids = (1..21).map { send(message("Number $it")) }
        server.stored[1].expiresAt = simulation.date
        assertTrue(client().inbox().entries.all { it.secret == null && it.code == null })
        assertTrue(server.stored.none { it.isRead })
        val first = client().inbox(withSecrets = true)
        assertEquals(ids.take(20), first.entries.map { it.id })
        assertEquals("Login", first.entries[0].secret?.message?.title)
        assertEquals(listOf("Number 1", null, "Number 3"), first.entries.take(3).map { it.secret?.text })
        assertEquals(DiagnosticCode.EXPIRED, first.entries[1].code)
        assertEquals(1, client().inbox(first.next, withSecrets = true).entries.size)
        assertTrue("nothing is shown", device.screen.shown.isEmpty() && device.screen.hints == 0)
    }

    private fun reason(action: () -> Unit): AnswerFailure.Reason? = try {
        action()
        null
    } catch (e: AnswerFailure) {
        e.reason
    }

    @Test
    fun whatIsAnsweredLeavesTheScreen() = simulation.run {
        device.logIn()
        val id = send()
        server.stored[0].answers = listOf("approve")
        val client = client()
        client.handle(device.push(id))
        client.answer(id, "approve")
        client.catchUp()
        assertTrue(device.screen.visible.isEmpty())
    }

    @Test
    fun answersAreTold() = simulation.run {
        device.logIn()
        val id = send()
        server.stored[0].answers = listOf("approve", "deny")
        server.stored[0].challenge = "42"
        val client = client()
        assertEquals(AnswerFailure.Reason.WRONG, reason { client.answer(id, "approve") })
        assertEquals(AnswerFailure.Reason.WRONG, reason { client.answer(id, "approve", challenge = "41") })
        assertEquals(AnswerFailure.Reason.WRONG, reason { client.answer(id, "maybe", challenge = "42") })
        faults.disconnect("POST")
        assertEquals("SP-OFFLINE", code { client.answer(id, "approve", challenge = "42") })
        faults.clear()
        assertNull(reason { client.answer(id, "approve", "In order.", "42") })
        assertNull("again", reason { client.answer(id, "approve", "In order.", "42") })
        assertEquals("In order.", server.stored[0].answer?.getString("Text"))
        assertEquals(AnswerFailure.Reason.ANSWERED_DIFFERENTLY, reason { client.answer(id, "deny") })
        server.stored[0].isRevoked = true
        assertEquals(AnswerFailure.Reason.OVER, reason { client.answer(id, "approve") })
        val unknown = checkNotNull(PushID.of("unknown"))
        assertEquals(AnswerFailure.Reason.FAILED, reason { client.answer(unknown, "approve") })
    }
}
