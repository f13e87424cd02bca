package securepush.units

import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertNotEquals
import org.junit.Assert.assertNull
import org.junit.Assert.assertTrue
import org.junit.Test
import securepush.ClientStoreException
import securepush.DiagnosticCode
import securepush.PushDevice
import securepush.SecurePushFailure
import securepush.TransportResponse
import securepush.simulation.DeviceFaults
import securepush.simulation.NoFaults
import securepush.simulation.RequestFaults
import securepush.simulation.SimulatedDevice
import securepush.simulation.SimulatedServer
import securepush.simulation.Simulation

/** The user logs out: nothing of the user stays on the device, whatever happens. */
class LogOutTests {
    private class Phone(seed: Long = 0) {
        val simulation = Simulation(seed)
        val device = SimulatedDevice(simulation)
        val server = device.server
        val channel = PushDevice(PushDevice.Platform.FCM_V1, "channel")
        val faults = RequestFaults()

        fun start(diesAt: Int? = null) =
            device.start(diesAt, faults = if (diesAt == null) faults else NoFaults, encryptsEndToEnd = true)

        /** Logged in and registered, with a secret on the screen and another one in the inbox. */
        fun run(body: Phone.() -> Unit) = simulation.run {
            device.logIn()
            val app = start()
            app.client.register(channel)
            app.client.handle(device.push(server.send()))
            body()
        }

        /** What of the user is still here; nothing is right. */
        fun rest(): List<String> {
            val state = device.disk.read()
            return listOfNotNull(
                "screen".takeIf { device.screen.visible.isNotEmpty() },
                "ledger".takeIf { state.ledger.entries.isNotEmpty() },
                "owner".takeIf { state.owner != null },
                "key".takeIf { device.disk.envelopeKeys != null },
                "session".takeIf { device.start().credentials.userName() != null },
                "credentials".takeIf { device.start().credentials.credentials() != null },
                "registration".takeIf { state.registration.installationID != null }
            )
        }
    }

    @Test
    fun aLogOutRemovesEverythingHereAndThere() = Phone().run {
        assertTrue(start().client.logOut())
        assertEquals(emptyList<String>(), rest())
        assertTrue(server.installations.isEmpty())
        assertEquals(1, server.count("DELETE /api/installations"))
        assertEquals(1, server.count("DELETE /api/token"))
        assertNull("nothing is left to do", device.disk.credentials)
        assertEquals(0, device.screen.badges.last())
    }

    @Test
    fun withoutANetworkTheServerIsToldAtTheNextWake() = Phone().run {
        faults.disconnect("", 1_000)
        val begin = simulation.uptime
        assertFalse(start().client.logOut())
        assertTrue(simulation.uptime - begin <= 9_000)
        assertEquals(emptyList<String>(), rest())
        assertEquals(1, server.installations.size)
        val kept = String(checkNotNull(device.disk.credentials))
        assertFalse("no password", SimulatedServer.PASSWORD in kept)
        start().client.catchUp()
        assertEquals("still no network", 1, server.installations.size)
        faults.clear()
        val app = start()
        app.client.catchUp()
        assertTrue(server.installations.isEmpty())
        assertEquals(1, server.count("DELETE /api/token"))
        assertNull(device.disk.credentials)
        assertFalse(app.client.hasDepartures)
    }

    /** The access token has expired meanwhile. */
    @Test
    fun theLastSessionIsRefreshedOnceForTheDelete() = Phone().run {
        faults.disconnect("", 1_000)
        start().client.logOut()
        faults.clear()
        server.revokeAccessTokens()
        start().client.catchUp()
        assertTrue(server.installations.isEmpty())
        assertNull(device.disk.credentials)
        assertEquals("the tokens after the refresh", 1, server.count("DELETE /api/token"))
    }

    @Test
    fun aDayLaterTheTokensAreGone() = Phone().run {
        faults.disconnect("", 1_000)
        start().client.logOut()
        simulation.dateOffset += 25 * 3_600_000L
        start().client.catchUp()
        assertNull(device.disk.credentials)
        assertEquals(0, server.count("DELETE"))
    }

    @Test
    fun anotherUserDoesNotWaitForIt() = Phone().run {
        faults.disconnect("", 1_000)
        val id = server.installations.keys.single()
        start().client.logOut()
        faults.clear()
        faults.disconnect("DELETE", 1_000)
        device.logIn()
        val next = start().client.register(channel)
        assertNotEquals(id, next)
        start().client.handle(device.push(server.send()))
        assertEquals(2, server.installations.size)
        faults.clear()
        start().client.catchUp()
        assertEquals("only the last one is removed", setOf(next), server.installations.keys)
        assertEquals(SimulatedServer.USER, start().credentials.userName())
        assertEquals("the new user's stays", 1, device.screen.visible.size)
    }

    /** The old order of calls, and the calls one by one. */
    @Test
    fun anUnregistrationWithoutANetworkIsDoneWithTheTokensOfTheLogOut() = Phone().run {
        faults.disconnect("", 1_000)
        val app = start()
        assertFalse(app.client.unregister())
        assertEquals(SimulatedServer.USER, app.credentials.userName())
        app.credentials.logOut()
        assertEquals(emptyList<String>(), rest())
        faults.clear()
        start().client.catchUp()
        assertTrue(server.installations.isEmpty())
        assertNull(device.disk.credentials)
    }

    @Test
    fun theCredentialsLogOutAloneIsFinishedByTheClient() = Phone().run {
        start().credentials.logOut()
        start().client.catchUp()
        assertEquals(emptyList<String>(), rest())
        assertTrue(server.installations.isEmpty())
    }

    @Test
    fun aUserWhoUnregistersStaysLoggedIn() = Phone().run {
        assertTrue(start().client.unregister())
        assertEquals(SimulatedServer.USER, start().credentials.userName())
        assertTrue(server.installations.isEmpty())
        faults.disconnect("DELETE", 1_000)
        start().client.register(channel)
        assertFalse(start().client.unregister())
        faults.clear()
        start().client.catchUp()
        assertTrue(server.installations.isEmpty())
    }

    /** The process dies before or after each call of its store, transport and presenter. */
    @Test
    fun deathAtAnyStepOfALogOutLeavesNothing() {
        val complaints = ArrayList<String>()
        var count = 0
        for (seed in 0L..2L) {
            var point = 1
            while (true) {
                val (name, rest) = die(point, seed) ?: break
                count += 1
                if (rest.isNotEmpty()) complaints.add("seed $seed, point $point ($name): $rest")
                point += 1
            }
        }
        println("Deaths in a log-out: $count. Something left: ${complaints.size}.")
        assertEquals(emptyList<String>(), complaints)
        assertTrue(count > 60)
    }

    private fun die(point: Int, seed: Long): Pair<String, List<String>>? {
        val phone = Phone(seed)
        var end: Pair<String, List<String>>? = null
        phone.run {
            val app = start(diesAt = point)
            val isAlive = app.process.live { app.client.logOut() }
            if (!isAlive) {
                val name = app.process.points.last()
                val isLoggedIn = device.start().credentials.userName() != null
                // The next start of the app.
                val next = start()
                next.client.catchUp()
                // Before the first change, the user is still logged in.
                val isUnchanged = isLoggedIn && rest().contains("session")
                if (isUnchanged) next.client.logOut()
                next.client.catchUp()
                val left = listOfNotNull("installation".takeIf { server.installations.isNotEmpty() })
                end = Pair(name, rest() + left)
            }
        }
        return end
    }

    /** Whatever the moment at which the refresh is, the session does not come back (review, finding 7). */
    @Test
    fun aLogOutDuringARefreshWins() {
        var handedOver = 0
        for (seed in 0L..3L) for (millis in 0L..400L step 10) Phone(seed).run {
            server.revokeAccessTokens()
            val app = start()
            val done = simulation.newSignal()
            simulation.start {
                app.client.handle(device.push(server.send()))
                done.set()
            }
            simulation.sleep(millis)
            app.client.logOut()
            assertTrue(done.await(60_000))
            start().client.catchUp()
            assertEquals("seed $seed, after $millis ms", emptyList<String>(), rest())
            assertTrue("seed $seed, after $millis ms", server.installations.isEmpty())
            if (server.count("POST /api/token") > 1) handedOver += 1
        }
        assertTrue(handedOver > 0)
    }

    /** In another process of the app. */
    @Test
    fun aLogOutInAnotherProcessWins() = Phone().run {
        server.revokeAccessTokens()
        val (app, other) = Pair(start(), start())
        faults.fail("POST /api/token") {
            simulation.sleep(2_000)
            null
        }
        val done = simulation.newSignal()
        simulation.start {
            app.client.handle(device.push(server.send()))
            done.set()
        }
        simulation.sleep(1_000)
        other.client.logOut()
        assertTrue(done.await(60_000))
        assertEquals(emptyList<String>(), rest())
    }

    /** A registration that is under way does not bring the device back, and the log-out does not wait for it. */
    @Test
    fun aLogOutDuringARegistration() = Phone().run {
        val app = start()
        faults.fail("PUT /api/installations") {
            simulation.sleep(5_000)
            null
        }
        var code: DiagnosticCode? = null
        val done = simulation.newSignal()
        simulation.start {
            try {
                app.client.register(PushDevice(PushDevice.Platform.FCM_V1, "next"))
            } catch (e: SecurePushFailure) {
                code = e.code
            }
            done.set()
        }
        simulation.sleep(1_000)
        simulation.start { app.client.logOut() }
        simulation.sleep(100)
        assertEquals(emptyList<String>(), rest())
        assertTrue(done.await(60_000))
        simulation.sleep(10_000)
        assertEquals(DiagnosticCode.LOGGED_OUT, code)
        assertEquals(emptyList<String>(), rest())
        assertTrue("removed after it", server.installations.isEmpty())
    }

    /** The wait for a registration has a bound, and an interrupted waiter keeps the order (house review, 32). */
    @Test
    fun registrationsKeepTheirOrderAndTheirBound() = Phone().run {
        val client = start().client
        val order = ArrayList<String>()
        faults.fail("PUT /api/installations") {
            simulation.sleep(7_000)
            null
        }
        fun register(name: String) = simulation.start {
            try {
                client.register(PushDevice(PushDevice.Platform.FCM_V1, name))
                order.add(name)
            } catch (e: SecurePushFailure) {
                order.add("$name ${e.code}")
            }
        }
        register("first")
        simulation.sleep(1_000)
        val second = register("second")
        simulation.sleep(100)
        register("third")
        simulation.sleep(100)
        second.interrupt()
        simulation.sleep(20_000)
        assertEquals(listOf("second SP-TIMEOUT", "first", "third"), order)
        // One that does not end.
        faults.fail("PUT /api/installations", 50) {
            simulation.sleep(100_000)
            null
        }
        order.clear()
        register("fourth")
        simulation.sleep(1_000)
        val begin = simulation.uptime
        register("fifth")
        simulation.sleep(30_000)
        assertTrue(order.toString(), "fifth SP-TIMEOUT" in order)
        assertTrue(simulation.uptime - begin <= 31_000)
    }

    /** A store that cannot be written does not keep the secrets on the screen; the app learns of the credentials. */
    @Test
    fun aBrokenStoreIsToldAndTheScreenIsCleared() = Phone().run {
        val full = object : DeviceFaults by NoFaults {
            override fun store(writes: Boolean) {
                if (writes) throw ClientStoreException(ClientStoreException.Reason.UNWRITABLE)
            }
        }
        val client = device.start(faults = full, encryptsEndToEnd = true).client
        try {
            client.logOut()
            throw IllegalStateException("It was logged out.")
        } catch (e: SecurePushFailure) {
            assertEquals(DiagnosticCode.CREDENTIALS, e.code)
        }
        assertTrue(device.screen.visible.isEmpty())
        assertTrue("the server is reached", client.unregister())
        start().client.logOut()
        assertEquals(emptyList<String>(), rest())
    }

    /** A server that refuses is no reason to keep secrets. */
    @Test
    fun aLogOutNeverFailsForTheServersSake() {
        for (status in listOf(401, 403, 404, 500, 503)) Phone().run {
            faults.fail("DELETE", 50) { TransportResponse(status) }
            start().client.logOut()
            assertEquals("$status", emptyList<String>(), rest())
        }
    }
}
