package securepush.units

import org.json.JSONArray
import org.json.JSONObject
import org.junit.Assert.assertEquals
import org.junit.Test
import securepush.Base64Url
import securepush.DiagnosticCode
import securepush.RegistrationRecord
import securepush.WakeReport
import securepush.simulation.SimulatedDevice
import securepush.simulation.SimulatedServer
import securepush.simulation.Simulation
import securepush.vectors.VectorFolder

/** End-to-end encrypted payloads in a wake, with an envelope of the vectors. */
class EndToEndTests {
    private val simulation = Simulation()
    private val device = SimulatedDevice(simulation)
    private val vector = VectorFolder.cases("e2e.json").first {
        val expected = it.getJSONObject("expect")
        it.getString("recipient") == SimulatedServer.USER && expected.optBoolean("opened") &&
            expected.optBoolean("encrypted") && !it.isNull("privateKey")
    }

    /** The device has the vector's installation, and its key unless it is lost. */
    private fun prepare(hasKey: Boolean) {
        device.logIn()
        device.start().store.update { it.registration = RegistrationRecord(vector.getString("device")) }
        if (!hasKey) return
        val bytes = Base64Url.decode(vector.getJSONObject("privateKey").getString("d"))
        device.disk.envelopeKey = bytes
    }

    @Test
    fun anEnvelopeIsOpenedAndShown() = simulation.run {
        prepare(hasKey = true)
        val pushed = device.server.send(JSONObject(vector.getString("payload")))
        val missed = (1..3).map { device.server.send(JSONObject(vector.getString("payload"))) }
        val report = device.start().client.handle(device.push(pushed))
        assertEquals(WakeReport.Result.NEW_DATA, report.result)
        val text = vector.getJSONObject("expect").getString("text")
        assertEquals((listOf(pushed) + missed).map { Pair(it, text) }, device.screen.shown)
    }

    @Test
    fun anEnvelopeThatIsNotForThisDeviceWaitsNoMore() = simulation.run {
        prepare(hasKey = false)
        val id = device.server.send(JSONObject(vector.getString("payload")))
        val report = device.start().client.handle(device.push(id))
        assertEquals(DiagnosticCode.NO_KEY, report.code)
        assertEquals(listOf(DiagnosticCode.NO_KEY), device.screen.notices.map { it.code })
        val fetches = device.server.count("GET /api/notifications/$id")
        for (round in 1..3) device.start().client.catchUp()
        assertEquals(fetches, device.server.count("GET /api/notifications/$id"))
        device.start().client.handle(device.push(id))
        assertEquals("another push tries again", fetches + 1, device.server.count("GET /api/notifications/$id"))
        assertEquals("the generic text is shown once", 1, device.screen.notices.size)
        assertEquals(emptyList<Any>(), device.start().client.waiting())
    }

    /** With `DISPATCH_WITHDRAW=read` the withdrawal of the own read comes, and another reader's. */
    @Test
    fun theWithdrawalOfTheOwnReadLeavesTheGenericText() = simulation.run {
        prepare(hasKey = false)
        val (own, others) = (1..2).map { device.server.send(JSONObject(vector.getString("payload"))) }
        device.server.stored[1].isRead = true
        val app = device.start()
        for (id in listOf(own, others)) {
            app.client.handle(device.push(id))
            app.client.handle(device.push(id, withdraw = true))
        }
        assertEquals(listOf(others), device.screen.removed)
    }

    @Test
    fun aPayloadThatOnlyLooksLikeAnEnvelopeIsShown() = simulation.run {
        prepare(hasKey = true)
        val payload = JSONObject().put("e2e", 1).put("text", JSONArray(listOf(1, 2)))
        val id = device.server.send(payload)
        device.start().client.handle(device.push(id))
        assertEquals(1, device.screen.count(id))
    }
}
