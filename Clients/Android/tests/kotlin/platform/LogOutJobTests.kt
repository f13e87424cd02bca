package securepush.platform

import android.app.Application
import android.app.job.JobParameters
import android.app.job.JobScheduler
import android.os.UserManager
import android.security.keystore.StandInProvider
import java.io.File
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertNull
import org.junit.Assert.assertTrue
import org.junit.Rule
import org.junit.Test
import org.junit.rules.TemporaryFolder
import securepush.Departure
import securepush.StoredCredentials
import securepush.android.AndroidClientStore
import securepush.android.SecurePushCatchUpService
import securepush.simulation.RequestFaults
import securepush.simulation.SimulatedDevice
import securepush.simulation.Simulation

/** The job tells the server of a log-out when there is a network. */
class LogOutJobTests {
    @get:Rule val temporary = TemporaryFolder()

    @Test
    fun aLogOutSchedulesTheJobAndItsTokensAreEncrypted() {
        StandInProvider.install()
        val jobs = JobScheduler()
        val context = Application()
        context.services[JobScheduler::class.java] = jobs
        context.services[UserManager::class.java] = UserManager()
        context.folder = temporary.root
        val store = AndroidClientStore(context)
        assertTrue(store.replace(null, StoredCredentials("alice", "access", null, "refresh")))
        assertTrue(jobs.jobs.isEmpty())
        val left = Departure("alice", "https://push.example.com", 7, ID, "access", "refresh")
        val alice = store.credentials()
        assertFalse("somebody was faster", store.replace(StoredCredentials("bob"), null))
        assertTrue(store.replace(alice, StoredCredentials.nobody.with(listOf(left))))
        assertEquals(1, jobs.jobs.size)
        assertEquals(listOf(left), AndroidClientStore(context).credentials()?.departures)
        assertNull(store.credentials()?.userName)
        val text = String(File(temporary.root, "securepush/credentials").readBytes(), Charsets.ISO_8859_1)
        assertFalse("refresh" in text || "alice" in text)
        assertFalse("refresh" in left.toString() + store.credentials())
    }

    @Test
    fun theJobGoesOnUntilTheServerKnows() {
        val simulation = Simulation()
        val device = SimulatedDevice(simulation)
        simulation.run {
            device.logIn()
            val faults = RequestFaults()
            val app = device.start(faults = faults)
            app.client.register(app.securePushDevice("token"))
            faults.disconnect("", 1_000)
            assertFalse(app.client.logOut())
            fun repeats(): Boolean {
                val service = SecurePushCatchUpService()
                service.attachBaseContext(device.start(faults = faults))
                service.onStartJob(JobParameters())
                while (service.finished == 0) simulation.sleep(100)
                return service.wantsReschedule
            }
            assertTrue(repeats())
            assertEquals(1, device.server.installations.size)
            faults.clear()
            assertFalse(repeats())
            assertTrue(device.server.installations.isEmpty())
            assertEquals("the user is not asked to log in", 0, device.screen.hints)
        }
    }

    private companion object {
        const val ID = "0b7c8a52-4f6e-4f0e-9a55-6d1f2f0c7e11"
    }
}
