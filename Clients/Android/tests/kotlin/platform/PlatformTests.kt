package securepush.platform

import android.app.Application
import android.app.NotificationChannel
import android.app.NotificationManager
import android.app.PendingIntent
import android.app.job.JobParameters
import android.app.job.JobScheduler
import android.os.UserManager
import android.provider.Settings
import android.security.keystore.StandInProvider
import com.google.firebase.messaging.RemoteMessage
import java.io.File
import java.time.Instant
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertNull
import org.junit.Assert.assertTrue
import org.junit.Before
import org.junit.Rule
import org.junit.Test
import org.junit.rules.TemporaryFolder
import securepush.ClientState
import securepush.ClientStateCoding
import securepush.ClientStoreException
import securepush.DiagnosticCode
import securepush.Display
import securepush.EnvelopeKeyVault
import securepush.EnvelopePrivateKey
import securepush.GenericNotice
import securepush.LogInPrompt
import securepush.PushID
import securepush.RegistrationRecord
import securepush.SecretNotification
import securepush.SoftwareEnvelopeKey
import securepush.StoredCredentials
import securepush.WakeReport
import securepush.android.AndroidClientStore
import securepush.android.KeystoreBox
import securepush.android.NotificationManagerPresenter
import securepush.android.R
import securepush.android.SecurePushCatchUpService
import securepush.android.SecurePushMessagingService
import securepush.simulation.DeviceFaults
import securepush.simulation.NoFaults
import securepush.simulation.SimulatedDevice
import securepush.simulation.Simulation

/** The glue to Android, against stand-ins for the platform's classes. */
class PlatformTests {
    private val simulation = Simulation()
    private val device = SimulatedDevice(simulation)

    @get:Rule val temporary = TemporaryFolder()
    private val context = Application()
    private val manager = NotificationManager()
    private val badges = ArrayList<Int>()
    private val presenter by lazy { NotificationManagerPresenter(context, 7) { badges.add(it) } }
    private val id = checkNotNull(PushID.of("a"))
    private val other = checkNotNull(PushID.of("b"))

    private fun NotificationManagerPresenter(context: Application, icon: Int, onBadge: (Int) -> Unit) =
        NotificationManagerPresenter(context, icon, "securepush", onBadge)

    @Before
    fun prepare() {
        StandInProvider.install()
        context.services[NotificationManager::class.java] = manager
        context.services[UserManager::class.java] = UserManager()
        context.folder = temporary.newFolder("files")
        context.deviceProtectedFolder = temporary.newFolder("device-protected")
        context.strings.putAll(
            mapOf(
                R.string.securepush_generic to "generic (%1\$s)", R.string.securepush_log_in to "log in (%1\$s)",
                R.string.securepush_locked to "locked", R.string.securepush_hidden to "hidden"
            )
        )
    }

    private fun texts() = manager.activeNotifications.map { "${it.tag}: ${it.notification.text}" }

    private fun isRefused(action: () -> Unit): Boolean = try {
        action()
        false
    } catch (e: NotificationManagerPresenter.Refused) {
        true
    }

    @Test
    fun aSecretReplacesTheGenericText() {
        presenter.show(GenericNotice(id, GenericNotice.Kind.GENERIC, DiagnosticCode.UNREACHABLE))
        assertEquals(listOf("a: generic (SP-OFFLINE)"), texts())
        assertEquals(emptySet<PushID>(), presenter.displayedSecrets())
        presenter.show(SecretNotification(id, "\"secret\""))
        assertEquals(listOf("a: secret"), texts())
        assertEquals(setOf(id), presenter.displayedSecrets())
        val shown = manager.activeNotifications.single().notification
        assertEquals("hidden", shown.publicVersion.text)
        assertEquals(android.app.Notification.VISIBILITY_PRIVATE, shown.visibility)
        assertEquals("secret", shown.bigText)
        assertTrue("not on watches", shown.localOnly && shown.publicVersion.localOnly)
        assertEquals("two IDs have two intents", "securepush:a", shown.contentIntent.intent.data.toString())
        assertTrue(shown.contentIntent.flags and PendingIntent.FLAG_IMMUTABLE != 0)
        assertEquals("a", shown.contentIntent.intent.extras[NotificationManagerPresenter.EXTRA_ID])
        presenter.remove(listOf(other))
        presenter.remove(listOf(id))
        assertEquals(emptyList<String>(), texts())
    }

    private fun message(json: String, expiresAt: Instant? = null, id: PushID = this.id) =
        SecretNotification(id, json, false, Display.FULL, expiresAt)

    private fun shown(id: PushID = this.id) =
        manager.activeNotifications.first { it.tag == id.rawValue }.notification

    @Test
    fun aMessageHasItsTitleAndItsTime() {
        val expiresAt = Instant.ofEpochMilli(System.currentTimeMillis() + 60_000)
        presenter.show(message("{\"Title\":\"Login\",\"Body\":\"Approve?\",\"Category\":\"reminder\"}", expiresAt))
        assertEquals("Login", shown().title)
        assertEquals("Approve?", shown().text)
        assertEquals("reminder", shown().category)
        assertTrue(shown().timeoutAfter in 50_000..60_000)
        assertNull("not on the lock screen", shown().publicVersion.title)
        assertTrue(shown().publicVersion.actions.isEmpty())
        presenter.show(message("\"text\"", Instant.EPOCH))
        assertEquals(1, shown().timeoutAfter)
        presenter.show(message("{\"Body\":\"x\",\"Category\":\"call\"}"))
        assertEquals(listOf(null, null, 0L), listOf(shown().title, shown().category, shown().timeoutAfter))
        assertTrue(isRefused { presenter.show(message("7")) })
    }

    @Test
    fun levelsAndCategoriesHaveChannels() {
        manager.createNotificationChannel(NotificationChannel("login", "Logins", NotificationManager.IMPORTANCE_HIGH))
        val payloads = listOf(
            "\"x\"" to "securepush", "{\"Body\":\"x\",\"Category\":\"login\"}" to "login",
            "{\"Body\":\"x\",\"Category\":\"other\"}" to "securepush",
            "{\"Body\":\"x\",\"Level\":\"time-sensitive\"}" to "securepush",
            "{\"Body\":\"x\",\"Level\":\"passive\",\"Category\":\"login\"}" to "securepush.passive"
        )
        for ((payload, channel) in payloads) {
            presenter.show(message(payload))
            assertEquals(payload, channel, shown().channel)
        }
        val passive = manager.getNotificationChannel("securepush.passive")
        assertEquals(NotificationManager.IMPORTANCE_LOW, passive.importance)
        manager.getNotificationChannel("login").importance = NotificationManager.IMPORTANCE_NONE
        assertTrue(isRefused { presenter.show(message(payloads[1].first)) })
    }

    /** A thread has a summary, which goes with its last message. */
    @Test
    fun threadsAreGroups() {
        val payload = "{\"Body\":\"x\",\"Thread\":\"logins\"}"
        presenter.show(message(payload))
        presenter.show(message(payload, id = other))
        val group = "securepush.thread.logins"
        assertEquals(listOf(group, "a", "b"), manager.activeNotifications.map { it.tag })
        assertEquals(listOf(group), manager.activeNotifications.map { it.notification.group }.distinct())
        val summary = manager.activeNotifications[0].notification
        assertTrue(summary.isGroupSummary)
        assertEquals(android.app.Notification.GROUP_ALERT_CHILDREN, summary.groupAlertBehavior)
        assertEquals(setOf(id, other), presenter.displayedSecrets())
        presenter.remove(listOf(id))
        assertEquals(listOf(group, "b"), manager.activeNotifications.map { it.tag })
        presenter.remove(listOf(other))
        assertTrue(manager.activeNotifications.isEmpty())
        // The system removes the last message. The summary must not stay.
        presenter.show(message(payload, Instant.ofEpochMilli(System.currentTimeMillis() + 60_000)))
        assertTrue(manager.activeNotifications.all { it.notification.timeoutAfter in 50_000..60_000 })
        presenter.show(message(payload, id = other))
        assertEquals(0, manager.activeNotifications.first { it.tag == group }.notification.timeoutAfter)
    }

    @Test
    fun thePromptTakesThePlaceOfItsTexts() {
        presenter.show(GenericNotice(id, GenericNotice.Kind.GENERIC, DiagnosticCode.UNREACHABLE))
        presenter.show(GenericNotice(null, GenericNotice.Kind.LOCKED, DiagnosticCode.LOCKED))
        presenter.show(LogInPrompt(listOf(id, other), DiagnosticCode.LOGGED_OUT))
        assertEquals(listOf("securepush.notice: locked", "securepush.log-in: log in (SP-LOGIN)"), texts())
        presenter.removePrompt()
        assertEquals(emptyList<String>(), texts())
        presenter.setBadge(3)
        assertEquals(listOf(3), badges)
    }

    @Test
    fun whatTheSystemWouldDropIsRefused() {
        val secret = SecretNotification(id, "\"${"x".repeat(100_000)}\"")
        manager.isAllowed = false
        assertTrue(isRefused { presenter.show(secret) })
        manager.isAllowed = true
        presenter.show(secret)
        assertEquals(4_097, manager.activeNotifications.single().notification.text.length)
        manager.getNotificationChannel("securepush").importance = NotificationManager.IMPORTANCE_NONE
        assertTrue(isRefused { presenter.show(secret) })
        manager.getNotificationChannel("securepush").importance = NotificationManager.IMPORTANCE_HIGH
        var refused = 0
        for (number in 1..40) {
            val next = SecretNotification(checkNotNull(PushID.of("n-$number")), "\"text\"")
            if (isRefused { presenter.show(next) }) refused += 1
        }
        assertEquals(17, refused)
        assertFalse("what is shown can be replaced", isRefused { presenter.show(secret) })
        assertEquals(0, manager.dropped)
    }

    /** A device that cannot keep keys. */
    private object NoVault : EnvelopeKeyVault {
        override fun make(number: Int): EnvelopePrivateKey? = null

        override fun find(number: Int, publicBytes: ByteArray): EnvelopePrivateKey? = null

        override fun remove(number: Int) = Unit
    }

    @Test
    fun credentialsAndKeysAreEncryptedByTheKeystore() {
        val store = AndroidClientStore(context, vault = NoVault)
        val key = store.makeEnvelopeKey(0) as SoftwareEnvelopeKey
        store.save(StoredCredentials("alice", "access-token"))
        store.update { it.owner = "alice" }
        val again = AndroidClientStore(context, vault = NoVault)
        assertEquals("access-token", again.credentials()?.accessToken)
        assertEquals(key.publicJwk, again.envelopeKeys().firstOrNull()?.publicJwk)
        assertEquals("alice", again.read().owner)
        for (file in File(context.folder, "securepush").walkTopDown().filter { it.isFile }) {
            val content = String(file.readBytes(), Charsets.ISO_8859_1)
            val secret = String(key.pair.encoded.copyOf(32), Charsets.ISO_8859_1)
            assertFalse(file.name, "access-token" in content || secret in content)
        }
        StandInProvider.KEYS.clear()
        assertNull("the key is lost", again.credentials())
        assertNull(again.envelopeKeys().firstOrNull())
        again.save(StoredCredentials("alice", "next"))
        assertEquals("next", store.credentials()?.accessToken)
    }

    @Test
    fun theBoxNoticesChanges() {
        val box = KeystoreBox("test")
        val sealed = box.seal("secret".toByteArray())
        assertEquals("secret", String(checkNotNull(box.open(sealed))))
        assertFalse(sealed.contentEquals(box.seal("secret".toByteArray())))
        for (index in sealed.indices) {
            val changed = sealed.copyOf().also { it[index] = (it[index].toInt() xor 1).toByte() }
            assertNull("$index", box.open(changed))
        }
        for (length in 0 until sealed.size) assertNull(box.open(sealed.copyOf(length)))
    }

    @Test
    fun nothingIsReadBeforeTheFirstUnlock() {
        val users = context.getSystemService(UserManager::class.java)
        users.unlocked = false
        context.isUnlocked = false
        val store = AndroidClientStore(context)
        try {
            store.read()
            throw AssertionError("It was read.")
        } catch (e: ClientStoreException) {
            assertEquals(ClientStoreException.Reason.LOCKED, e.reason)
        }
        assertTrue(store.claimLockedNotice())
        assertFalse(AndroidClientStore(context).claimLockedNotice())
        Settings.Global.starts += 1
        assertTrue(AndroidClientStore(context).claimLockedNotice())
        users.unlocked = true
        context.isUnlocked = true
        assertNull(store.read().owner)
    }

    /** A message to the service of a simulated device; the reports of its wakes. */
    private fun receive(app: SimulatedDevice.App, data: Map<String, String>): List<String> {
        val events = ArrayList<String>()
        val service = object : SecurePushMessagingService() {
            override fun onWake(report: WakeReport) {
                events.add("${report.result} ${report.code}")
            }

            override fun onOtherMessage(message: RemoteMessage) {
                events.add("other")
            }
        }
        service.attachBaseContext(app)
        service.onMessageReceived(RemoteMessage(data))
        return events
    }

    private val offline = object : DeviceFaults by NoFaults {
        override fun answer(request: securepush.TransportRequest, timeout: Long, maxBytes: Int) =
            throw securepush.TransportException(securepush.TransportException.Reason.UNREACHABLE)
    }

    @Test
    fun theJobDoesWhatTheMessageLeft() {
        simulation.run {
            device.logIn()
            val pushed = device.server.send()
            val begin = simulation.uptime
            assertEquals(listOf("FAILED SP-OFFLINE"), receive(device.start(faults = offline), device.data(pushed)))
            assertTrue("Firebase's 20 s", simulation.uptime - begin < 20_000)
            assertEquals(1, device.screen.notices.size)
            val job = device.jobs.jobs.values.single()
            assertEquals(SecurePushCatchUpService::class.java.name, job.service.name)
            val service = SecurePushCatchUpService()
            service.attachBaseContext(device.start())
            assertTrue(service.onStartJob(JobParameters()))
            while (service.finished == 0) simulation.sleep(100)
            assertFalse(service.wantsReschedule)
            assertFalse("too late", service.onStopJob(JobParameters()))
            assertEquals(1, device.screen.count(pushed))
        }
    }

    @Test
    fun aMessageThatIsDoneLeavesNoJob() {
        simulation.run {
            device.logIn()
            val pushed = device.server.send()
            val app = device.start()
            assertEquals(listOf("NEW_DATA null"), receive(app, device.data(pushed)))
            assertEquals(1, device.jobs.scheduled)
            assertEquals(listOf("other"), receive(app, mapOf("message" to "hello")))
            val forged = device.data(pushed) + mapOf("sig" to "A".repeat(86))
            assertEquals(listOf("NO_DATA SP-SIGNATURE"), receive(app, forged))
            assertEquals("a forged push schedules nothing", 1, device.jobs.scheduled)
            assertTrue(device.jobs.jobs.isEmpty())
            device.jobs.refuses = true
            assertEquals(listOf("NEW_DATA null"), receive(app, device.data(device.server.send())))
        }
    }

    @Test
    fun lostMessagesAndNewTokensAreHandled() {
        simulation.run {
            device.logIn()
            val missed = (1..3).map { device.server.send() }
            val service = SecurePushMessagingService()
            val app = device.start()
            service.attachBaseContext(app)
            service.onDeletedMessages()
            assertEquals(listOf(1, 1, 1), missed.map { device.screen.count(it) })
            app.client.register(app.securePushDevice("first"))
            service.onNewToken("next")
            assertTrue(device.server.bodies.any { "\"pushChannel\":\"next\"" in it.second })
            device.disk.credentials = null
            service.onNewToken("after the log-out")
            assertEquals(2, device.server.count("PUT"))
        }
    }

    @Test
    fun aNewTokenDoesNotRegisterADeviceThatWasUnregistered() {
        simulation.run {
            device.logIn()
            val app = device.start()
            val service = SecurePushMessagingService()
            service.attachBaseContext(app)
            service.onNewToken("before register()")
            assertEquals(0, device.server.count("PUT"))
            val id = app.client.register(app.securePushDevice("first"))
            app.client.unregister()
            service.onNewToken("after unregister()")
            assertEquals(1, device.server.count("PUT"))
            assertTrue(device.jobs.jobs.isEmpty())
            // The states of a version that did not store what the app wants: unregistered, and registered.
            for (record in listOf(RegistrationRecord(id), RegistrationRecord(id, "alice", "digest", 7))) {
                device.disk.state = ClientStateCoding.encode(ClientState().apply { registration = record })
                service.onNewToken("after the update of the app")
                assertEquals(if (record.digest == null) 1 else 2, device.server.count("PUT"))
            }
            app.client.unregister()
            app.client.register(app.securePushDevice("second"))
            service.onNewToken("third")
            assertEquals(4, device.server.count("PUT"))
        }
    }

    @Test
    fun aNewTokenWithoutAConnectionIsRegisteredByTheJob() {
        simulation.run {
            device.logIn()
            val failures = ArrayList<securepush.SecurePushFailure>()
            val service = object : SecurePushMessagingService() {
                override fun onRegistrationFailed(failure: securepush.SecurePushFailure) {
                    failures.add(failure)
                }
            }
            device.start().let { it.client.register(it.securePushDevice("first")) }
            service.attachBaseContext(device.start(faults = offline))
            service.onNewToken("next")
            assertEquals(1, failures.size)
            assertEquals(1, device.jobs.jobs.size)
            for (isOffline in listOf(true, false)) {
                val job = SecurePushCatchUpService()
                job.attachBaseContext(device.start(faults = if (isOffline) offline else NoFaults))
                assertTrue(job.onStartJob(JobParameters()))
                while (job.finished == 0) simulation.sleep(100)
                assertEquals(isOffline, job.wantsReschedule)
            }
            assertTrue(device.server.bodies.any { "\"pushChannel\":\"token of this app\"" in it.second })
        }
    }

    @Test
    fun anAppWithoutAHostIsTold() {
        val service = SecurePushMessagingService()
        service.attachBaseContext(context)
        context.services[JobScheduler::class.java] = JobScheduler()
        try {
            service.onMessageReceived(RemoteMessage(mapOf("secureId" to "a")))
            throw AssertionError("There is no host.")
        } catch (e: IllegalStateException) {
            assertTrue(checkNotNull(e.message).contains("SecurePushHost"))
        }
    }
}
