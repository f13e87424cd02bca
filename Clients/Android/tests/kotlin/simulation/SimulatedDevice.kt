package securepush.simulation

import android.app.Application
import android.app.job.JobScheduler
import securepush.ClientLimits
import securepush.Display
import securepush.IncomingPush
import securepush.PushID
import securepush.PushKeySet
import securepush.SecurePushClient
import securepush.SecurePushConfiguration
import securepush.SenderKeySet
import securepush.TokenCredentialsProvider
import securepush.Transport
import securepush.TransportRequest
import securepush.TransportResponse
import securepush.android.FirebaseChannel
import securepush.android.SecurePushChannel
import securepush.android.SecurePushHost

/** A device, its user and the server. Processes come and go. */
class SimulatedDevice(val simulation: Simulation) {
    val disk = SimulatedDisk()
    val screen = SimulatedScreen()
    val server = SimulatedServer().apply { pushKeys = jwkSet }
    /** The jobs that the app has scheduled. */
    val jobs = JobScheduler()

    /** The app: one process with a client of its own. */
    class App(
        val process: SimulatedProcess, override val securePushClient: SecurePushClient,
        val credentials: TokenCredentialsProvider, val store: SimulatedStore
    ) : Application(), SecurePushHost {
        val client: SecurePushClient get() = securePushClient

        override var securePushChannel: SecurePushChannel = FirebaseChannel(this)
    }

    /**
     * Starts a process.
     *
     * @param diesAt the point where it dies.
     * @param faults what goes wrong in it.
     */
    fun start(
        diesAt: Int? = null, faults: DeviceFaults = NoFaults, encryptsEndToEnd: Boolean = false,
        limits: ClientLimits = ClientLimits(), senders: SenderKeySet? = null, requiresEncryption: Boolean = false,
        keys: PushKeySet? = publicKeys, display: Display = Display.FULL
    ): App {
        val process = SimulatedProcess(simulation, diesAt)
        val store = SimulatedStore(disk, process, faults)
        val transport = object : Transport {
            override fun send(request: TransportRequest, timeout: Long, maxBytes: Int): TransportResponse =
                process.call("${request.method} ${request.url.path}") {
                    simulation.sleep(50)
                    faults.answer(request, timeout, maxBytes) ?: server.respond(request)
                }
        }
        val credentials = TokenCredentialsProvider(SimulatedServer.url, store, transport, simulation, simulation)
        val configuration = SecurePushConfiguration(
            SimulatedServer.url, keys, limits = limits, encryptsEndToEnd = encryptsEndToEnd, senderKeys = senders,
            requiresEncryption = requiresEncryption, display = display
        )
        val client = SecurePushClient(
            configuration, credentials, store, transport, SimulatedPresenter(screen, process, faults), simulation,
            simulation
        )
        val app = App(process, client, credentials, store)
        app.services[JobScheduler::class.java] = jobs
        return app
    }

    /** The user logs in, in a process that nothing goes wrong in. */
    fun logIn() = start().credentials.logIn(SimulatedServer.USER, SimulatedServer.PASSWORD)

    /** A push of the server, signed now: the `data` of a message of Firebase. */
    fun data(id: PushID, withdraw: Boolean = false, signer: PushSigner = SimulatedDevice.signer): Map<String, String> =
        signer.data(id, (simulation.date / 1_000).toString(), withdraw)

    fun push(id: PushID, withdraw: Boolean = false, signer: PushSigner = SimulatedDevice.signer): IncomingPush =
        IncomingPush.of(data(id, withdraw, signer))

    /**
     * With `DISPATCH_WITHDRAW=read` the server withdraws what one of the user's devices has fetched, from that device
     * too.
     *
     * @param app a process for each push.
     */
    fun echoReads(app: () -> App) {
        for (read in server.stored.filter { it.isRead }) app().client.handle(push(read.id, withdraw = true))
    }

    companion object {
        /** The key of the server. */
        val signer = PushSigner()
        val jwkSet = PushSigner.jwkSet(signer)
        val publicKeys = PushKeySet.fromJwkSet(jwkSet.toByteArray())
    }
}
