package securepush.units

import org.json.JSONObject
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertNotEquals
import org.junit.Assert.assertNull
import org.junit.Assert.assertTrue
import org.junit.Test
import securepush.DiagnosticCode
import securepush.PushDevice
import securepush.SecurePushFailure
import securepush.TransportResponse
import securepush.isRegistrationDue
import securepush.renewRegistration
import securepush.simulation.RequestFaults
import securepush.simulation.SimulatedDevice
import securepush.simulation.Simulation

class RegistrationTests {
    private val simulation = Simulation()
    private val device = SimulatedDevice(simulation)
    private val server = device.server
    private val phone = PushDevice(PushDevice.Platform.FCM_V1, "channel", listOf("news"))

    private fun failure(action: () -> Unit): SecurePushFailure? = try {
        action()
        null
    } catch (e: SecurePushFailure) {
        e
    }

    private fun code(action: () -> Unit): DiagnosticCode? = failure(action)?.code

    @Test
    fun theInstallationIsKeptAndRenewed() = simulation.run {
        assertEquals(DiagnosticCode.LOGGED_OUT, code { device.start().client.register(phone) })
        device.logIn()
        val id = device.start().client.register(phone)
        assertEquals(id, device.start().client.register(phone))
        assertEquals(1, server.count("PUT"))
        val body = JSONObject(server.bodies.single { it.first.startsWith("PUT") }.second)
        assertEquals("fcmv1 channel $id [\"news\"]", listOf("platform", "pushChannel", "installationId", "tags")
            .joinToString(" ") { body.get(it).toString() })
        val other = PushDevice(PushDevice.Platform.FCM_V1, "other")
        assertEquals("a new channel", id, device.start().client.register(other))
        assertEquals(2, server.count("PUT"))
        simulation.dateOffset += 7 * 86_400_000
        assertEquals("a week later", id, device.start().client.register(other))
        assertEquals(3, server.count("PUT"))
    }

    @Test
    fun anIDThatTheServerHasGivenUpIsReplacedOnce() = simulation.run {
        device.logIn()
        val id = device.start().client.register(phone)
        simulation.dateOffset += 8 * 86_400_000
        server.registrationStatuses.addAll(listOf(410))
        val next = device.start().client.register(phone)
        assertNotEquals(id, next)
        simulation.dateOffset += 8 * 86_400_000
        server.registrationStatuses.addAll(listOf(404, 410))
        assertEquals(DiagnosticCode.status(410), code { device.start().client.register(phone) })
        server.registrationStatuses.addAll(listOf(403))
        assertEquals(DiagnosticCode.status(403), code { device.start().client.register(phone) })
        device.start().client.register(phone)
        Unit
    }

    @Test
    fun theKeyIsRegisteredEachTimeAndForgottenWithTheUser() = simulation.run {
        device.logIn()
        fun client() = device.start(encryptsEndToEnd = true).client
        val id = client().register(phone)
        client().register(phone)
        val keys = server.bodies.filter { it.first == "PUT /api/devices/$id/key" }.map { JSONObject(it.second) }
        assertEquals("the server may have forgotten it", 2, keys.size)
        assertEquals("EC P-256", keys[0].getString("kty") + " " + keys[0].getString("crv"))
        assertTrue("the private half stays", !keys[0].has("d"))
        val first = checkNotNull(device.disk.envelopeKeys).toList()
        simulation.dateOffset += 8 * 86_400_000
        client().register(phone)
        assertEquals(3, server.count("PUT /api/devices/$id/key"))
        assertEquals(first, device.disk.envelopeKeys?.toList())
        client().unregister()
        assertNull(device.disk.envelopeKeys)
        assertEquals(1, server.count("DELETE /api/installations/$id"))
        assertNotEquals("a later DELETE does not concern it", id, client().register(phone))
        assertNotEquals(first, device.disk.envelopeKeys?.toList())
    }

    /** A key that the server has got before is no reason to fail: the next call sends it again. */
    @Test
    fun aKeyThatTheServerNeverGotIsAFailure() = simulation.run {
        device.logIn()
        val faults = RequestFaults()
        val client = device.start(faults = faults, encryptsEndToEnd = true).client
        faults.disconnect("PUT /api/devices")
        val failure = failure { client.register(phone) }
        faults.clear()
        val id = client.register(phone)
        assertEquals(Pair(DiagnosticCode.UNREACHABLE, id), Pair(failure?.code, failure?.installationID))
        faults.disconnect("PUT /api/devices")
        assertEquals(id, client.register(phone))
        faults.clear()
        client.register(phone)
        assertEquals(2, server.count("PUT /api/devices/$id/key"))
        assertEquals(1, server.count("PUT /api/installations/$id"))
    }

    /** Senders encrypt for a key until the server has given the device to another user. */
    @Test
    fun aKeyStaysWithItsUser() = simulation.run {
        device.logIn()
        val faults = RequestFaults()
        val app = device.start(faults = faults, encryptsEndToEnd = true)
        app.client.register(phone)
        fun key() = device.disk.envelopeKeys?.toList()
        val first = key()
        app.credentials.logInWithToken("bob", checkNotNull(app.store.credentials()?.accessToken))
        faults.fail("PUT /api/installations") { TransportResponse(400) }
        assertEquals(DiagnosticCode.status(400), code { app.client.register(phone) })
        assertEquals("bob is not registered", first, key())
        app.client.register(phone)
        val second = key()
        assertNotEquals(first, second)
        // The store is damaged, and the user changes.
        device.disk.corrupt()
        app.credentials.logInWithToken("carol", checkNotNull(app.store.credentials()?.accessToken))
        device.start(encryptsEndToEnd = true).client.register(phone)
        assertNotEquals(second, key())
    }

    /** The server has removed the installation, or another user has it. Then it does not take the key. */
    @Test
    fun anInstallationThatTheServerHasLostIsRegisteredAgain() = simulation.run {
        device.logIn()
        for (status in listOf(404, 410)) {
            val faults = RequestFaults()
            val client = device.start(faults = faults, encryptsEndToEnd = true).client
            val id = client.register(phone)
            val before = server.count("PUT /api/installations/$id")
            faults.fail("PUT /api/devices/$id/key") { TransportResponse(status) }
            assertEquals(id, client.register(phone))
            assertEquals(before + 1, server.count("PUT /api/installations/$id"))
        }
        val faults = RequestFaults()
        faults.fail("PUT /api/devices", 2) { TransportResponse(404) }
        val client = device.start(faults = faults, encryptsEndToEnd = true).client
        assertEquals(DiagnosticCode.status(404), code { client.register(phone) })
    }

    @Test
    fun registrationsComeOneAfterAnother() = simulation.run {
        device.logIn()
        val app = device.start()
        val ends = (1..5).map {
            val done = simulation.newSignal()
            simulation.start {
                app.client.register(phone)
                done.set()
            }
            done
        }
        assertTrue(ends.all { it.await(60_000) })
        assertEquals(1, server.count("PUT"))
    }

    @Test
    fun aRenewalThatHasWaitedForAnUnregistrationRegistersNothing() = simulation.run {
        device.logIn()
        val faults = RequestFaults()
        val client = device.start(faults = faults).client
        val id = client.register(phone)
        faults.fail("PUT /api/installations") {
            simulation.sleep(5_000)
            null
        }
        simulation.start { client.renewRegistration(PushDevice(PushDevice.Platform.FCM_V1, "second")) }
        simulation.sleep(1_000)
        simulation.start { client.unregister() }
        simulation.sleep(1_000)
        client.renewRegistration(PushDevice(PushDevice.Platform.FCM_V1, "third"))
        assertEquals("DELETE /api/installations/$id", server.log.last())
        assertFalse(client.isRegistrationDue)
    }

    @Test
    fun unregisteringForgetsTheUsersNotifications() = simulation.run {
        device.logIn()
        val app = device.start()
        app.client.register(phone)
        val id = server.send()
        app.client.handle(device.push(id))
        assertEquals(setOf(id), device.screen.visible)
        assertTrue(app.client.unregister())
        assertTrue(device.screen.visible.isEmpty())
        assertEquals(0, device.screen.badges.last())
        app.credentials.logOut()
        assertEquals(1, server.count("DELETE /api/token"))
        assertNull(app.credentials.userName())
    }

    @Test
    fun serverKeysAreLearned() = simulation.run {
        device.logIn()
        server.pushKeys = SimulatedDevice.jwkSet
        device.start().client.register(phone)
        assertEquals(SimulatedDevice.publicKeys, device.disk.read().pushKeys)
        server.pushKeys = "{\"keys\":[]}"
        simulation.dateOffset += 8 * 86_400_000
        device.start().client.register(phone)
        assertEquals("an unusable set changes nothing", SimulatedDevice.publicKeys, device.disk.read().pushKeys)
    }

    @Test
    fun marksAreSentAndRemoved() = simulation.run {
        device.logIn()
        val app = device.start()
        val (first, second) = Pair(server.send(), server.send())
        app.client.handle(device.push(first))
        app.client.markAsRead(listOf(first, second))
        assertTrue(device.screen.visible.isEmpty())
        app.client.markAsReadThrough(second)
        val bodies = server.bodies.filter { it.first == "POST /api/notifications/read" }.map { it.second }
        assertEquals(listOf("{\"Ids\":[\"$first\",\"$second\"]}", "{\"Through\":\"$second\"}"), bodies)
    }
}
