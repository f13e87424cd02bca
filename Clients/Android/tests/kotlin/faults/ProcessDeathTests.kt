package securepush.faults

import android.app.job.JobParameters
import com.google.firebase.messaging.RemoteMessage
import org.json.JSONObject
import org.junit.Assert.assertEquals
import org.junit.Assert.assertTrue
import org.junit.Test
import securepush.PushDevice
import securepush.PushID
import securepush.android.SecurePushCatchUpService
import securepush.android.SecurePushMessagingService
import securepush.simulation.EnvelopeSealer
import securepush.simulation.SimulatedDevice
import securepush.simulation.SimulatedServer
import securepush.simulation.Simulation

/**
 * A process dies before or after any call of its store, transport or presenter. Later the system starts the app
 * again.
 */
class ProcessDeathTests {
    /** How a wake begins. */
    private enum class Scenario {
        /** A push, while another secret waits in the inbox. */
        PUSH,
        /** The same in Firebase's service. The job is the next wake. */
        SERVICE,
        /** The access token is refused, so the wake refreshes it. */
        REFRESH,
        /** The user logs in after a prompt. */
        RESUME,
        /** The sender withdraws what is on the screen. */
        WITHDRAWAL,
        /** A push. With `DISPATCH_WITHDRAW=read` the server withdraws what the dead process has asked for. */
        READ_ECHO,
        /** The same, for several secrets in the inbox that the app fetches with one request. */
        PAGE_ECHO,
        /** A push. The secrets are encrypted end to end, and each envelope opens under one ID only. */
        ENVELOPES
    }

    private class Ending(val point: String?, val shown: List<Int>)

    @Test
    fun deathBetweenAnyTwoStepsLosesNothingAndShowsNothingTwice() {
        val complaints = ArrayList<String>()
        val counts = LinkedHashMap<Scenario, Int>()
        for (scenario in Scenario.values()) for (seed in 0L..1L) {
            var point = 1
            while (true) {
                val ending = live(scenario, point, seed)
                if (ending.point == null) break
                counts[scenario] = (counts[scenario] ?: 0) + 1
                if (ending.shown != listOf(1, 1)) {
                    complaints.add("$scenario, seed $seed, point $point (${ending.point}): ${ending.shown}")
                }
                point += 1
            }
        }
        println("Process deaths: ${counts.values.sum()} $counts. Lost or shown twice: ${complaints.size}.")
        complaints.take(40).forEach { println("  $it") }
        assertEquals(0, complaints.size)
        assertTrue(counts.values.sum() > 200)
    }

    /** @return the point where the process died; `null` if the wake has no such point. */
    private fun live(scenario: Scenario, point: Int, seed: Long): Ending {
        val simulation = Simulation(seed)
        val device = SimulatedDevice(simulation)
        return simulation.run {
            val sealer = if (scenario == Scenario.ENVELOPES) sealer(device) else null
            val (missed, pushed) = (1..2).map { device.server.send(sealer?.seal("\"secret $it\"", simulation.date)) }
            prepare(scenario, device, pushed)
            val app = device.start(diesAt = point)
            val lived = app.process.live { wake(scenario, device, app, pushed) }
            // The next wakes, each in a new process: the job, the app, a repeated push, the app again.
            simulation.sleep(60_000)
            val hasEcho = scenario == Scenario.READ_ECHO || scenario == Scenario.PAGE_ECHO
            if (hasEcho) device.echoReads { device.start() }
            if (device.jobs.jobs.isNotEmpty()) runJob(device)
            device.start().client.catchUp()
            if (device.screen.isPrompting) {
                device.logIn()
                device.start().client.resumeAfterLogIn()
            }
            simulation.sleep(60_000)
            for (id in listOf(missed, pushed)) device.start().client.handle(device.push(id))
            device.start().client.catchUp()
            val name = if (lived) null else app.process.points.last()
            Ending(name, listOf(missed, pushed).map { device.screen.count(it) })
        }
    }

    /** Registers, so that the device has a key. */
    private fun sealer(device: SimulatedDevice): EnvelopeSealer {
        device.logIn()
        val client = device.start(encryptsEndToEnd = true).client
        val installation = client.register(PushDevice(PushDevice.Platform.FCM_V1, "token"))
        return EnvelopeSealer(SimulatedServer.USER, installation, JSONObject(device.server.bodies.last().second))
    }

    private fun prepare(scenario: Scenario, device: SimulatedDevice, pushed: PushID) {
        device.logIn()
        when (scenario) {
            Scenario.RESUME -> {
                device.server.endSessions()
                device.start().client.handle(device.push(pushed))
            }
            Scenario.WITHDRAWAL -> device.start().client.handle(device.push(pushed))
            Scenario.REFRESH -> device.server.revokeAccessTokens()
            Scenario.PUSH, Scenario.SERVICE, Scenario.READ_ECHO, Scenario.PAGE_ECHO, Scenario.ENVELOPES -> Unit
        }
    }

    private fun wake(scenario: Scenario, device: SimulatedDevice, app: SimulatedDevice.App, pushed: PushID) {
        when (scenario) {
            Scenario.PUSH, Scenario.REFRESH, Scenario.READ_ECHO, Scenario.ENVELOPES ->
                app.client.handle(device.push(pushed))
            Scenario.PAGE_ECHO -> app.client.catchUp()
            Scenario.WITHDRAWAL -> {
                device.server.stored.filter { it.id == pushed }.forEach { it.isRevoked = true }
                app.client.handle(device.push(pushed, withdraw = true))
            }
            Scenario.SERVICE -> {
                val service = SecurePushMessagingService()
                service.attachBaseContext(app)
                service.onMessageReceived(RemoteMessage(device.data(pushed)))
            }
            Scenario.RESUME -> {
                app.credentials.logIn(SimulatedServer.USER, SimulatedServer.PASSWORD)
                app.client.resumeAfterLogIn()
            }
        }
    }

    private fun runJob(device: SimulatedDevice) {
        device.jobs.jobs.clear()
        val service = SecurePushCatchUpService()
        service.attachBaseContext(device.start())
        service.onStartJob(JobParameters())
        while (service.finished == 0) device.simulation.sleep(100)
    }
}
