package securepush.units

import java.util.UUID
import org.junit.Assert.assertEquals
import org.junit.Assert.assertTrue
import org.junit.Test
import securepush.ClientCredentials
import securepush.ClientState
import securepush.ClientStateCoding
import securepush.ClientStore
import securepush.ClientStoreException
import securepush.CredentialsProvider
import securepush.DiagnosticCode
import securepush.EnvelopePrivateKey
import securepush.FixedCredentialsProvider
import securepush.GenericNotice
import securepush.LogInPrompt
import securepush.MemoryClientStore
import securepush.NotificationPresenter
import securepush.PushDevice
import securepush.PushID
import securepush.SecretNotification
import securepush.SecurePushClient
import securepush.SecurePushConfiguration
import securepush.SecurePushFailure
import securepush.StoredCredentials
import securepush.TokenCredentialsProvider
import securepush.Transport
import securepush.TransportRequest
import securepush.TransportResponse
import securepush.isRegistrationDue
import securepush.renewRegistration
import securepush.simulation.NoFaults
import securepush.simulation.SimulatedDevice
import securepush.simulation.SimulatedPresenter
import securepush.simulation.SimulatedProcess
import securepush.simulation.SimulatedServer
import securepush.simulation.Simulation

/** A part of the platform that does not answer, or throws anything, keeps no secret from the user. */
class BoundTests {
    private val channel = PushDevice(PushDevice.Platform.FCM_V1, "token")

    private class Broken(private val simulation: Simulation, var fault: String) : ClientStore {
        private val memory = MemoryClientStore()

        private fun <R> call(writes: Boolean, work: () -> R): R {
            when (fault) {
                "everything throws" -> throw IllegalStateException("The Keystore has a fault.")
                "nothing ends" -> simulation.sleep(NEVER)
                "writes hang" -> if (writes) simulation.sleep(NEVER)
            }
            return work()
        }

        override fun read(): ClientState = call(false) { memory.read() }
        override fun <R> update(change: (ClientState) -> R): R = call(true) { memory.update(change) }
        override fun credentials(): StoredCredentials? = call(false) { memory.credentials() }
        override fun save(credentials: StoredCredentials?) = call(true) { memory.save(credentials) }
        override fun replace(expected: StoredCredentials?, credentials: StoredCredentials?): Boolean =
            call(true) { memory.replace(expected, credentials) }
        override fun envelopeKeys(): List<EnvelopePrivateKey> = call(false) { memory.envelopeKeys() }
        override fun makeEnvelopeKey(date: Long): EnvelopePrivateKey = call(true) { memory.makeEnvelopeKey(date) }
        override fun removeEnvelopeKeys() = call(true) { memory.removeEnvelopeKeys() }
        override fun rememberEnvelope(id: UUID, notification: PushID, date: Long): Boolean =
            call(true) { memory.rememberEnvelope(id, notification, date) }
        override fun claimLockedNotice(): Boolean = call(true) { memory.claimLockedNotice() }
    }

    /** A screen one of whose calls does not end. */
    private class Silent(
        private val simulation: Simulation, private val name: String, private val others: NotificationPresenter
    ) : NotificationPresenter {
        private fun hang(call: String) {
            if (call == name) simulation.sleep(NEVER)
        }

        override fun show(secret: SecretNotification) = hang("show").also { others.show(secret) }
        override fun show(notice: GenericNotice) = others.show(notice)
        override fun show(prompt: LogInPrompt) = others.show(prompt)
        override fun remove(ids: List<PushID>) = hang("remove").also { others.remove(ids) }
        override fun removePrompt() = hang("remove").also { others.removePrompt() }
        override fun setBadge(count: Int) = hang("badge").also { others.setBadge(count) }
        override fun displayedSecrets(): Set<PushID>? = hang("displayed").let { others.displayedSecrets() }
    }

    private class Phone(val simulation: Simulation) {
        val device = SimulatedDevice(simulation)
        val process = SimulatedProcess(simulation, null)
        val screen = SimulatedPresenter(device.screen, process, NoFaults)
        val transport = object : Transport {
            override fun send(request: TransportRequest, timeout: Long, maxBytes: Int): TransportResponse =
                device.server.respond(request)
        }
        val provider: CredentialsProvider by lazy {
            val stored = ClientStateCoding.decodeCredentials(checkNotNull(device.disk.credentials))
            FixedCredentialsProvider("alice", ClientCredentials.bearer(checkNotNull(stored?.accessToken)))
        }

        fun client(
            store: ClientStore = MemoryClientStore(), credentials: CredentialsProvider = provider,
            presenter: NotificationPresenter = screen
        ) = SecurePushClient(
            SecurePushConfiguration(SimulatedServer.url, SimulatedDevice.publicKeys), credentials, store, transport,
            presenter, simulation, simulation
        )

        /** It ends in time; a failure is an end. */
        fun inTime(call: () -> Unit) {
            val begin = simulation.uptime
            try {
                call()
            } catch (e: SecurePushFailure) {
                // It has ended.
            } catch (e: ClientStoreException) {
                // It has ended.
            }
            assertTrue("${simulation.uptime - begin} ms", simulation.uptime - begin < 28_000)
        }
    }

    private fun SecurePushClient.refusal(device: PushDevice): DiagnosticCode? = try {
        register(device)
        null
    } catch (e: SecurePushFailure) {
        e.code
    }

    private fun run(body: Phone.() -> Unit) {
        val simulation = Simulation()
        simulation.run {
            val phone = Phone(simulation)
            phone.device.logIn()
            phone.body()
        }
    }

    @Test
    fun withoutAStoreTheSecretIsShownInTime() {
        for (fault in listOf("nothing ends", "writes hang", "everything throws")) run {
            val id = device.server.send()
            val client = client(Broken(simulation, fault))
            inTime { client.handle(device.push(id)) }
            assertEquals(fault, 1, device.screen.count(id))
            inTime { client.register(channel) }
            inTime { client.catchUp() }
            inTime { client.waiting() }
            inTime { client.unregister() }
        }
    }

    @Test
    fun aStoreThatWorksAgainHasTheRegistration() = run {
        val store = Broken(simulation, "")
        val id = client(store).register(channel)
        store.fault = "everything throws"
        val client = client(store)
        inTime { client.handle(device.push(device.server.send())) }
        inTime { client.renewRegistration(channel) }
        assertTrue("it may have to be registered", client.isRegistrationDue)
        store.fault = ""
        assertEquals(id, client.register(channel))
        assertEquals(1, device.server.count("PUT"))
    }

    @Test
    fun withoutAStoreForTheCredentialsTheGenericTextComesInTime() {
        for (fault in listOf("nothing ends", "everything throws")) run {
            val id = device.server.send()
            val store = Broken(simulation, fault)
            val credentials = TokenCredentialsProvider(SimulatedServer.url, store, transport, simulation, simulation)
            val client = client(store, credentials)
            inTime { client.handle(device.push(id)) }
            inTime { assertEquals(DiagnosticCode.CREDENTIALS, client.refusal(channel)) }
            assertEquals(fault, listOf(DiagnosticCode.CREDENTIALS), device.screen.notices.map { it.code })
            inTime { credentials.logOut() }
        }
    }

    @Test
    fun aScreenThatDoesNotAnswerEndsInTime() {
        for (call in listOf("show", "remove", "badge", "displayed")) run {
            val id = device.server.send()
            val client = client(presenter = Silent(simulation, call, screen))
            inTime { client.handle(device.push(id)) }
            assertEquals(call, 1, device.screen.count(id) + device.screen.hints)
            inTime { client.unregister() }
        }
    }

    @Test
    fun aProviderThatDoesNotAnswerEndsInTime() {
        for (hangs in listOf("userName", "credentials")) run {
            val id = device.server.send()
            val silent = object : CredentialsProvider by provider {
                override fun userName(): String? {
                    if (hangs == "userName") simulation.sleep(NEVER)
                    return provider.userName()
                }

                override fun credentials(): ClientCredentials? {
                    if (hangs == "credentials") simulation.sleep(NEVER)
                    return provider.credentials()
                }
            }
            val client = client(credentials = silent)
            inTime { client.handle(device.push(id)) }
            // Nobody knows whether somebody is logged in, so another try may help.
            inTime { assertTrue(hangs, checkNotNull(client.refusal(channel)).canHeal) }
            inTime { client.unregister() }
        }
    }

    /** The job registers the new channel later. */
    @Test
    fun aRenewalForWhichNobodyKnowsTheUserIsDue() = run {
        var isSilent = false
        val silent = object : CredentialsProvider by provider {
            override fun userName(): String? {
                if (isSilent) simulation.sleep(NEVER)
                return provider.userName()
            }
        }
        val client = client(credentials = silent)
        client.register(channel)
        val next = PushDevice(PushDevice.Platform.FCM_V1, "next")
        isSilent = true
        inTime { client.renewRegistration(next) }
        assertTrue(client.isRegistrationDue)
        isSilent = false
        client.renewRegistration(next)
        assertTrue("\"next\"" in device.server.bodies.last().second && !client.isRegistrationDue)
    }

    @Test
    fun anInterruptDoesNotKeepAStoreFromNoting() = run {
        val id = device.server.send()
        val store = MemoryClientStore()
        Thread.currentThread().interrupt()
        val client = client(store)
        client.handle(device.push(id))
        assertTrue(Thread.interrupted())
        assertEquals(listOf(id), client.waiting())
    }

    internal companion object {
        /** Longer than a run. */
        const val NEVER = 10 * 86_400_000L
    }
}
