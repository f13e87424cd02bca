package securepush.units

import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertTrue
import org.junit.Test
import securepush.CatchUpTurns
import securepush.ClientLimits
import securepush.TransportResponse
import securepush.Wake
import securepush.WakeReport
import securepush.simulation.DeviceFaults
import securepush.simulation.NoFaults
import securepush.simulation.RequestFaults
import securepush.simulation.SimulatedDevice
import securepush.simulation.Simulation

/** The user goes while a wake is under way. The log-out follows `unregister`, so the credentials are still valid. */
class UserChangeTests {
    private class Phone {
        val simulation = Simulation()
        val device = SimulatedDevice(simulation)
        val faults = RequestFaults()
        val app by lazy { device.start(faults = faults, limits = ClientLimits(maxSecretsPerPage = 2)) }

        /** The user goes when a request is sent, and the server answers it. */
        fun leave(request: String) = faults.fail(request) {
            app.client.unregister()
            null
        }

        fun run(body: Phone.() -> Unit) = simulation.run {
            device.logIn()
            body()
        }
    }

    @Test
    fun aCatchUpEndsWhenTheUserGoes() {
        for (request in listOf("notifications/", "notifications?Limit", "notifications?include")) Phone().run {
            val ids = (1..6).map { device.server.send() }
            // The first is shown if the user goes later.
            val shown = if (request == "notifications/") emptyList() else ids.take(1)
            leave("GET /api/$request")
            assertEquals(request, shown, app.client.handle(device.push(ids[0])).shown)
            assertEquals(shown, device.screen.shown.map { it.first })
            assertTrue(device.screen.visible.isEmpty() && app.client.waiting().isEmpty())
            assertEquals(0, device.screen.badges.last())
        }
    }

    @Test
    fun waitingSecretsAreNotFetchedAfterTheUserHasGone() = Phone().run {
        val ids = (1..3).map { device.server.send() }
        faults.disconnect("GET /api/notifications")
        app.client.handle(device.push(ids[0]))
        app.client.handle(device.push(ids[1]))
        app.client.handle(device.push(ids[2]))
        faults.clear()
        val notices = device.screen.notices.size
        leave("GET /api/notifications/")
        assertEquals(WakeReport(), app.client.catchUp())
        assertTrue(device.screen.shown.isEmpty())
        assertEquals(notices, device.screen.notices.size)
    }

    @Test
    fun aFetchThatFailsAfterTheUserHasGoneShowsNothing() {
        for (status in listOf(401, 404, 503)) Phone().run {
            val id = device.server.send()
            faults.fail("GET /api/notifications/$id") {
                app.client.unregister()
                TransportResponse(status)
            }
            faults.fail("GET", 50) { TransportResponse(status) }
            assertEquals("$status", WakeReport(), app.client.handle(device.push(id)))
            assertEquals(0, device.screen.hints)
            assertFalse(device.disk.read().isPrompted)
        }
    }

    @Test
    fun aSecretThatIsBeingShownWhenTheUserGoesIsRemoved() = Phone().run {
        val id = device.server.send()
        val leaves = object : DeviceFaults by NoFaults {
            override fun present() {
                app.client.unregister()
            }
        }
        device.start(faults = leaves).client.handle(device.push(id))
        assertEquals(1, device.screen.count(id))
        assertTrue(device.screen.visible.isEmpty())
        assertTrue(device.disk.read().unreported.isEmpty())
    }

    @Test
    fun aSecretThatCannotBeShownWhenTheUserGoesIsNoFailure() = Phone().run {
        val id = device.server.send()
        val leaves = object : DeviceFaults by NoFaults {
            override fun present() {
                app.client.unregister()
                throw IllegalStateException("refused")
            }
        }
        assertEquals(WakeReport(), device.start(faults = leaves).client.handle(device.push(id)))
        assertEquals(0, device.screen.hints)
    }

    /** The new user's wake has begun before the catch-up of the last user's wake. */
    @Test
    fun theCatchUpForTheLastUserDoesNotServeTheNewOne() {
        val simulation = Simulation()
        simulation.run {
            val turns = CatchUpTurns(simulation, simulation)
            val last = Wake(1, simulation.uptime + 25_000)
            val next = Wake(2, simulation.uptime + 25_000).apply { userChanges = 1 }
            val same = Wake(2, simulation.uptime + 25_000)
            val runs = ArrayList<Wake>()
            for (wake in listOf(last, same, next)) {
                turns.take(wake, 2) {
                    runs.add(wake)
                    WakeReport()
                }
            }
            assertEquals(listOf(last, next), runs)
        }
    }
}
