package securepush.units

import org.junit.Assert.assertEquals
import org.junit.Assert.assertTrue
import org.junit.Test
import securepush.RetryAfter
import securepush.TransportResponse
import securepush.simulation.DeviceFaults
import securepush.simulation.NoFaults
import securepush.simulation.RequestFaults
import securepush.simulation.SimulatedDevice
import securepush.simulation.Simulation

/** The time of day: it jumps, and servers name it. */
class ClockTests {
    private val jumps = listOf(400 * 86_400_000L, -400 * 86_400_000L)

    /** One process is about to show a secret, slowly, while another one gets the same push. The clock may jump. */
    @Test
    fun aSecretThatAnotherProcessIsAboutToShowIsLeftToIt() {
        for (jump in listOf(0L) + jumps) {
            val simulation = Simulation()
            val device = SimulatedDevice(simulation)
            simulation.run {
                device.logIn()
                val id = device.server.send()
                val slow = object : DeviceFaults by NoFaults {
                    override fun present() = simulation.sleep(2_000)
                }
                val (first, second) = Pair(device.start(faults = slow), device.start())
                val done = simulation.newSignal()
                simulation.start {
                    first.client.handle(device.push(id))
                    done.set()
                }
                simulation.sleep(200)
                simulation.dateOffset += jump
                second.client.handle(device.push(id))
                assertTrue(done.await(60_000))
                assertEquals("$jump", 1, device.screen.count(id))
            }
        }
    }

    /** One process refreshes the credentials, slowly. A refresh token that is used twice ends the session. */
    @Test
    fun aRefreshHoldsWhenTheClockJumps() {
        for (jump in jumps) {
            val simulation = Simulation()
            val device = SimulatedDevice(simulation)
            simulation.run {
                device.logIn()
                device.server.revokeAccessTokens()
                val ids = (1..2).map { device.server.send() }
                val slow = RequestFaults()
                slow.fail("POST /api/token") {
                    simulation.sleep(2_000)
                    null
                }
                val (first, second) = Pair(device.start(faults = slow), device.start())
                val before = device.server.count("POST /api/token")
                val done = simulation.newSignal()
                simulation.start {
                    first.client.handle(device.push(ids[0]))
                    done.set()
                }
                simulation.sleep(400)
                simulation.dateOffset += jump
                second.client.handle(device.push(ids[1]))
                assertTrue(done.await(60_000))
                assertEquals("$jump", 1, device.server.count("POST /api/token") - before)
                assertEquals(listOf(1, 1), ids.map { device.screen.count(it) })
                assertTrue(device.screen.prompts.isEmpty())
            }
        }
    }

    @Test
    fun retryAfterIsSecondsOrADate() {
        val date = 784_111_777_000
        val texts = mapOf(
            "0" to 0L, "7" to 7_000L, "4294967295" to 4_294_967_295_000, "4294967296" to null, "00000000007" to null,
            "" to null, "-1" to null, "+1" to null, "1.5" to null, "٣" to null,
            "Sun, 06 Nov 1994 08:49:42 GMT" to 5_000L, "Mon, 06 Nov 1994 08:49:42 GMT" to 5_000L,
            "Sun, 06 Nov 1994 08:49:37 GMT" to 0L, "Sat, 05 Nov 1994 08:49:37 GMT" to 0L,
            "Sun, 06 Nov 1994 08:49:60 GMT" to 23_000L, "Fri, 31 Dec 9999 23:59:59 GMT" to 4_294_967_295_000,
            "Sun, 06 Nov 1994 08:49:61 GMT" to null, "Sun, 06 Nov 1994 24:00:00 GMT" to null,
            "Wed, 29 Feb 1995 08:49:37 GMT" to null, "Sun, 6 Nov 1994 08:49:37 GMT" to null,
            "Sun, 06 Nov 1994 08:49:37 UTC" to null, "Sun, 06 Nov 1994 08:49:37 +0000" to null,
            "sun, 06 nov 1994 08:49:37 gmt" to null, " Sun, 06 Nov 1994 08:49:37 GMT" to null,
            "Sunday, 06-Nov-94 08:49:42 GMT" to 5_000L, "Saturday, 05-Nov-94 08:49:37 GMT" to 0L,
            "Sun, 06-Nov-94 08:49:37 GMT" to null, "Sunday, 06-Nov-1994 08:49:37 GMT" to null,
            "Sunday, 06-Nov-44 08:49:37 GMT" to 1_577_923_200_000, "Monday, 06-Nov-45 08:49:37 GMT" to 0L,
            "Sun Nov  6 08:49:42 1994" to 5_000L, "Wed Nov 16 08:49:37 1994" to 864_000_000L,
            "Sun Nov 31 08:49:37 1994" to null, "Sun Nov  6 08:49:37 94" to null, "Sun Nov 6 08:49:37 1994" to null
        )
        for ((text, millis) in texts) assertEquals(text, millis, RetryAfter.millis(text, date))
    }

    @Test
    fun aTryWaitsForTheDateOfRetryAfter() {
        val simulation = Simulation()
        val faults = RequestFaults()
        val device = SimulatedDevice(simulation)
        simulation.run {
            device.logIn()
            val id = device.server.send()
            val times = ArrayList<Long>()
            faults.fail("GET /api/notifications/$id") {
                TransportResponse(503, mapOf("Retry-After" to "Fri, 15 Jan 2027 08:00:05 GMT"))
            }
            faults.fail("GET /api/notifications/$id") {
                times.add(simulation.date)
                null
            }
            device.start(faults = faults).client.handle(device.push(id))
            // The answers take 50 ms.
            assertEquals(listOf(1_800_000_005_050), times)
            assertEquals(1, device.screen.count(id))
        }
    }
}
