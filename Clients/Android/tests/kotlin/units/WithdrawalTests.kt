package securepush.units

import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertTrue
import org.junit.Test
import securepush.ClientLimits
import securepush.DiagnosticCode
import securepush.PushID
import securepush.TransportException
import securepush.TransportResponse
import securepush.WakeReport
import securepush.simulation.RequestFaults
import securepush.simulation.SimulatedDevice
import securepush.simulation.Simulation

/** Withdrawals, and those that are the echo of this device's own fetch (`DISPATCH_WITHDRAW=read`). */
class WithdrawalTests {
    private val simulation = Simulation()
    private val device = SimulatedDevice(simulation)
    private val server = device.server
    private val faults = RequestFaults()
    private val app by lazy { device.start(faults = faults, limits = ClientLimits(maxSecretsPerPage = 2)) }

    private fun push(id: PushID): WakeReport = app.client.handle(device.push(id))

    private fun withdraw(id: PushID): WakeReport = app.client.handle(device.push(id, withdraw = true))

    /** The device has asked for a notification. The server has marked it as read, and no answer has come. */
    private fun ask(): PushID {
        device.logIn()
        val id = server.send()
        faults.fail("GET /api/notifications/$id", 50) {
            server.stored[0].isRead = true
            throw TransportException(TransportException.Reason.UNREACHABLE)
        }
        push(id)
        assertEquals(listOf(DiagnosticCode.UNREACHABLE), device.screen.notices.map { it.code })
        faults.clear()
        return id
    }

    @Test
    fun theEchoOfALostAnswerDoesNotEndTheWait() = simulation.run {
        val id = ask()
        assertEquals(listOf(id), withdraw(id).shown)
        assertEquals(setOf(id), device.screen.visible)
        assertEquals(1, server.count("HEAD /api/notifications/$id"))
    }

    @Test
    fun anEchoThatCannotBeCheckedIsCheckedAtTheNextWake() = simulation.run {
        val id = ask()
        faults.disconnect("")
        withdraw(id)
        assertEquals(listOf(id), app.client.waiting())
        assertTrue(device.screen.removed.isEmpty())
        faults.clear()
        assertEquals(listOf(id), app.client.catchUp().shown)
    }

    /** The question has no answer. The fetch of the same wake has one: the sender has revoked the notification. */
    @Test
    fun aFetchThatFindsNothingConfirmsAWithdrawal() = simulation.run {
        val id = ask()
        server.stored[0].isRevoked = true
        faults.fail("HEAD") { TransportResponse(400) }
        withdraw(id)
        assertEquals(listOf(id), device.screen.removed)
        assertTrue(app.client.waiting().isEmpty())
        assertEquals(1, device.screen.notices.size)
    }

    /** The server has refused the request, so it has marked nothing as read for this device. */
    @Test
    fun aWithdrawalEndsWhatWasOnlyRefused() = simulation.run {
        device.logIn()
        server.endSessions()
        val id = server.send()
        assertEquals(DiagnosticCode.status(401), push(id).code)
        assertTrue(device.screen.isPrompting)
        withdraw(id)
        assertTrue(app.client.waiting().isEmpty())
        assertFalse("nothing waits behind the prompt", device.screen.isPrompting)
        assertEquals(0, server.count("HEAD"))
    }

    /** The answer with the payloads is lost after the server has marked them as read. */
    @Test
    fun theEchoOfALostPageDoesNotEndTheWait() = simulation.run {
        device.logIn()
        val ids = (1..3).map { server.send() }
        faults.disconnect("GET /api/notifications?include=payload")
        faults.disconnect("GET /api/notifications/")
        app.client.catchUp()
        faults.clear()
        server.stored.forEach { it.isRead = true }
        faults.fail("GET /api/notifications?", 2) { TransportResponse(400) }
        assertEquals(WakeReport.Result.NEW_DATA, withdraw(ids[2]).result)
        assertEquals("the page has two", ids.take(2), app.client.waiting())
        withdraw(ids[0])
        assertEquals(ids.take(2).toSet(), withdraw(ids[1]).shown.toSet())
        assertEquals(0, server.count("HEAD /api/notifications/${ids[2]}"))
    }

    /** Without keys, whoever can push can send a withdrawal: the hub, for example. */
    @Test
    fun aWithdrawalThatNobodyHasSignedIsAQuestion() = simulation.run {
        device.logIn()
        val client = device.start(faults = faults, keys = null).client
        val (early, shown, read, gone) = (1..4).map { server.send() }
        fun withdraw(id: PushID) = client.handle(device.push(id, withdraw = true))
        // Before its push, also without an answer.
        withdraw(early)
        assertEquals(1, server.count("HEAD /api/notifications/$early"))
        assertEquals(setOf(early, shown, read, gone), device.screen.visible)
        withdraw(shown)
        assertEquals("the server still has it", setOf(early, shown, read, gone), device.screen.visible)
        server.stored[3].isRevoked = true
        withdraw(gone)
        assertEquals(setOf(early, shown, read), device.screen.visible)
        assertTrue(client.handle(device.push(gone)).shown.isEmpty())
        val next = server.send()
        faults.disconnect("")
        withdraw(next)
        assertTrue("not remembered", device.disk.read().unconfirmed.isEmpty())
        faults.clear()
        assertEquals(listOf(next), client.handle(device.push(next)).shown)
        // Another device has read it. That a withdrawal came meanwhile means nothing.
        val others = server.send()
        server.stored[5].isRead = true
        faults.fail("GET /api/notifications/$others") {
            device.start(keys = null).client.handle(device.push(others, withdraw = true))
            null
        }
        client.handle(device.push(others))
        assertEquals(1, device.screen.count(others))
        assertTrue(others in device.screen.visible)
    }

    /** Another device reads while this one fetches: the answer says that it was read. */
    @Test
    fun aWithdrawalDuringTheFetchOfALaterReaderWins() = simulation.run {
        device.logIn()
        val id = server.send()
        server.stored[0].isRead = true
        faults.fail("GET /api/notifications/$id") {
            withdraw(id)
            null
        }
        assertTrue(push(id).shown.isEmpty())
        assertTrue(device.screen.shown.isEmpty())
        assertTrue(app.client.waiting().isEmpty())
    }

    /** The withdrawal is the echo of this device's own fetch. */
    @Test
    fun aWithdrawalDuringTheFirstFetchDoesNotLoseTheSecret() = simulation.run {
        device.logIn()
        val id = server.send()
        faults.fail("GET /api/notifications/$id") {
            withdraw(id)
            null
        }
        assertEquals(listOf(id), push(id).shown)
        assertEquals(setOf(id), device.screen.visible)
    }
}
