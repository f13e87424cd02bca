package securepush.faults

import org.junit.Assert.assertEquals
import org.junit.Test
import securepush.simulation.SimulatedDevice
import securepush.simulation.Simulation

/** Many pushes at the same time, in many orders of events. */
class ConcurrentPushTests {
    /** Each push comes twice, to two processes of the app with one store, and the access token is refused at first. */
    @Test
    fun fiftyPushesAtOnceShowEachSecretOnce() {
        var (shown, inboxes, refreshes) = Triple(0, 0, 0)
        var slowest = 0L
        val complaints = ArrayList<String>()
        for (seed in 0L until SEEDS) {
            val simulation = Simulation(seed)
            val device = SimulatedDevice(simulation)
            simulation.run {
                device.logIn()
                device.server.revokeAccessTokens()
                val ids = (1..PUSHES).map { device.server.send() }
                val apps = listOf(device.start(), device.start())
                val before = device.server.count("POST /api/token")
                val begin = simulation.uptime
                val ends = (ids + ids).mapIndexed { number, id ->
                    val push = device.push(id)
                    val signal = simulation.newSignal()
                    simulation.start {
                        apps[number % 2].client.handle(push)
                        signal.set()
                    }
                    signal
                }
                val isInTime = ends.all { it.await(28_000 - (simulation.uptime - begin)) }
                val elapsed = simulation.uptime - begin
                device.start().client.catchUp()
                val counts = ids.map { device.screen.count(it) }
                shown += counts.sum()
                inboxes += device.server.log.count { it == "GET /api/notifications" }
                refreshes += device.server.count("POST /api/token") - before
                slowest = maxOf(slowest, elapsed)
                if (!isInTime || counts.any { it != 1 }) complaints.add("seed $seed: $counts, $elapsed ms")
            }
        }
        println(
            "$PUSHES notifications, each pushed twice at once to two processes, in $SEEDS orders of events: $shown " +
                "secrets shown (${SEEDS * PUSHES} expected), $inboxes inbox requests, $refreshes token requests, " +
                "slowest $slowest ms. Wrong: ${complaints.size}."
        )
        complaints.forEach { println("  $it") }
        assertEquals(0, complaints.size)
        assertEquals("one exchange per run", SEEDS, refreshes)
    }

    private companion object {
        const val PUSHES = 50
        const val SEEDS = 5
    }
}
