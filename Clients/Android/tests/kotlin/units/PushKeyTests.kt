package securepush.units

import org.junit.Assert.assertEquals
import org.junit.Assert.assertTrue
import org.junit.Test
import securepush.ClientState
import securepush.ClientStateCoding
import securepush.DiagnosticCode
import securepush.IncomingPush
import securepush.PushID
import securepush.PushKeySet
import securepush.TransportException
import securepush.TransportResponse
import securepush.simulation.PushSigner
import securepush.simulation.RequestFaults
import securepush.simulation.SimulatedDevice
import securepush.simulation.Simulation

/** The server's keys for pushes change while the app stays closed. */
class PushKeyTests {
    private val old = SimulatedDevice.signer
    private val new = PushSigner()
    private val faults = RequestFaults()
    private val simulation = Simulation()
    private val device = SimulatedDevice(simulation)
    private val app by lazy { device.start(faults = faults) }
    private val id by lazy { device.server.send() }

    private fun push(id: PushID, signer: PushSigner): DiagnosticCode? =
        app.client.handle(device.push(id, signer = signer)).code

    private fun publish(vararg signers: PushSigner) {
        device.server.pushKeys = PushSigner.jwkSet(*signers)
    }

    private val refreshes: Int get() = device.server.count("GET /api/push-keys")

    @Test
    fun aGenuinePushMakesTheDeviceLearnTheNextKey() = simulation.run {
        device.logIn()
        publish(new, old)
        assertEquals(null, push(id, old))
        assertEquals(1, refreshes)
        assertEquals(null, push(id, new))
        // The server has removed the old key, and the device notices after an hour.
        publish(new)
        assertEquals(null, push(id, old))
        assertEquals(1, refreshes)
        simulation.dateOffset += 3_601_000
        assertEquals(null, push(id, old))
        assertEquals(2, refreshes)
        assertEquals(DiagnosticCode.BAD_SIGNATURE, push(id, old))
        assertEquals(null, push(id, new))
    }

    @Test
    fun aCatchUpMakesTheDeviceLearnTheNextKey() = simulation.run {
        device.logIn()
        publish(new)
        app.client.catchUp()
        assertEquals(null, push(id, new))
        // A clock that went back tells nothing of the age.
        simulation.dateOffset -= 86_400_000
        app.client.catchUp()
        assertEquals(2, refreshes)
    }

    /** The last key was stolen, so all pushes have a new one. Anybody can send pushes with any key. */
    @Test
    fun aPushByAnUnknownKeyMakesTheDeviceAskOnceAnHour() = simulation.run {
        device.logIn()
        val forger = PushSigner()
        for (round in 1..3) assertEquals(DiagnosticCode.BAD_SIGNATURE, push(id, forger))
        assertEquals(1, refreshes)
        publish(new)
        assertEquals(DiagnosticCode.BAD_SIGNATURE, push(id, new))
        simulation.dateOffset += 3_601_000
        faults.fail("GET /api/push-keys") { TransportResponse(503) }
        assertEquals(DiagnosticCode.BAD_SIGNATURE, push(id, new))
        assertEquals("also after a failure", DiagnosticCode.BAD_SIGNATURE, push(id, new))
        simulation.dateOffset += 3_601_000
        assertEquals(0, device.server.count("GET /api/notifications"))
        assertEquals(null, push(id, new))
        assertEquals(2, refreshes)
        assertEquals(listOf(id), device.screen.shown.map { it.first })
        simulation.dateOffset += 3_601_000
        val old = new.data(id, "1", false)
        assertEquals(DiagnosticCode.TOO_OLD, app.client.handle(IncomingPush.of(old)).code)
        assertEquals("nothing to learn of that", 2, refreshes)
    }

    /** Private members, no key that can be used, no JSON, too long. */
    @Test
    fun anUnusableSetReplacesNothing() = simulation.run {
        device.logIn()
        val good = PushSigner.jwkSet(new)
        val private = listOf("\"d\":\"AAAA\"", "\"d\":7", "\"d\":null", "\"k\":\"AAAA\"")
        val sets = private.map { good.replace("\"x\"", "$it,\"x\"") } +
            private.map { good.replace("]}", ",{\"kty\":\"RSA\",$it}]}") } +
            listOf(PushSigner.jwkSet(), "", "{}", "<html>", good + " ".repeat(MAX_SET_BYTES))
        for ((number, set) in sets.withIndex()) {
            device.server.pushKeys = set
            assertEquals(set.take(200), null, push(id, old))
            assertEquals("asked for again at each wake", number + 1, refreshes)
        }
        assertEquals(DiagnosticCode.BAD_SIGNATURE, push(id, new))
    }

    @Test
    fun aRefusalReplacesNothing() = simulation.run {
        device.logIn()
        publish(new, old)
        for ((number, status) in listOf(302, 403, 404, 500, 503).withIndex()) {
            faults.fail("GET /api/push-keys") { TransportResponse(status) }
            val begin = simulation.uptime
            app.client.catchUp()
            assertTrue("the next wake tries again, so this one does not", simulation.uptime - begin < 1_000)
            assertEquals(0, refreshes)
            assertEquals("$number", null, device.disk.read().pushKeys)
        }
        faults.fail("GET /api/push-keys") { TransportResponse(503) }
        assertEquals(DiagnosticCode.BAD_SIGNATURE, push(id, new))
    }

    @Test
    fun aServerThatHangsDelaysAWakeForAShortTime() = simulation.run {
        device.logIn()
        var asked = 0
        faults.fail("GET /api/push-keys", 50) {
            asked += 1
            simulation.sleep(600_000)
            throw TransportException(TransportException.Reason.TIMED_OUT)
        }
        val begin = simulation.uptime
        app.client.catchUp()
        assertTrue(simulation.uptime - begin in 5_000..5_500)
        assertEquals(1, asked)
    }

    @Test
    fun wakesAtTheSameTimeAskOnce() = simulation.run {
        device.logIn()
        val ends = (1..20).map {
            val done = simulation.newSignal()
            simulation.start {
                app.client.catchUp()
                done.set()
            }
            done
        }
        assertTrue(ends.all { it.await(60_000) })
        assertEquals(1, refreshes)
    }

    /** A set of more keys than the server allows is cut off. It survives the store. */
    @Test
    fun upTo32KeysAreUsed() {
        for (count in 1..40) {
            val signers = (1..count).map { PushSigner() }
            val keys = PushKeySet.fromJwkSet(PushSigner.jwkSet(*signers.toTypedArray()).toByteArray())
            assertEquals(minOf(count, 32), keys.count)
            val state = ClientState()
            state.pushKeys = keys
            assertEquals(keys, ClientStateCoding.decodeState(ClientStateCoding.encode(state))?.pushKeys)
        }
    }

    private companion object {
        const val MAX_SET_BYTES = 64 shl 10
    }
}
