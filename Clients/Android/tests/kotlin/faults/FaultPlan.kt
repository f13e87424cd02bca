package securepush.faults

import securepush.ClientStoreException
import securepush.TransportException
import securepush.TransportRequest
import securepush.TransportResponse
import securepush.simulation.DeviceFaults
import securepush.simulation.SimulatedDevice
import securepush.simulation.SimulatedServer

/** One fault at one stage. The simulated parts ask it before they act. */
class FaultPlan(
    private val fault: Fault, private val stage: Stage, private val length: FaultLength,
    private val device: SimulatedDevice
) : DeviceFaults {
    /** Whether the stage has been reached, and the fault strikes. */
    private var isActive = false
    var hasStruck = false
        private set
    private var isHealed = false
    /** Sends hostile pushes to the client. */
    var attack: () -> Unit = {}

    /** The wake has reached a stage. */
    fun reach(reached: Stage) {
        if (reached != stage || isActive || isHealed) return
        isActive = true
        hasStruck = true
        when (fault.kind) {
            Fault.Kind.CLOCK_FORWARD -> device.simulation.dateOffset += JUMP
            Fault.Kind.CLOCK_BACK -> device.simulation.dateOffset -= JUMP
            Fault.Kind.STORE_CORRUPT -> device.disk.corrupt()
            Fault.Kind.HOSTILE_PUSH -> attack()
            else -> hasStruck = false
        }
    }

    /** Everything works again. */
    fun heal() {
        if (isActive && fault.kind == Fault.Kind.CLOCK_FORWARD) device.simulation.dateOffset -= JUMP
        if (isActive && fault.kind == Fault.Kind.CLOCK_BACK) device.simulation.dateOffset += JUMP
        isActive = false
        isHealed = true
    }

    private fun strikes(): Boolean {
        if (!isActive || (length == FaultLength.ONCE && hasStruck)) return false
        hasStruck = true
        return true
    }

    override fun store(writes: Boolean) {
        reach(Stage.STORE)
        val isFull = writes && (fault.kind == Fault.Kind.STORE_FULL || fault.kind == Fault.Kind.STORE_READ_ONLY)
        if (isFull && strikes()) throw ClientStoreException(ClientStoreException.Reason.UNWRITABLE)
        if (fault.kind == Fault.Kind.LOCKED && strikes()) throw ClientStoreException(ClientStoreException.Reason.LOCKED)
        if (fault.kind == Fault.Kind.STORE_THROWS && strikes()) throw IllegalStateException("The Keystore has a fault.")
        if (fault.kind == Fault.Kind.STORE_HANGS && strikes()) device.simulation.sleep(FOR_EVER)
    }

    override fun present() {
        reach(Stage.PRESENT)
        if (fault.kind == Fault.Kind.PRESENTER_REFUSES && strikes()) throw IllegalStateException("refused")
        if (fault.kind == Fault.Kind.PRESENTER_HANGS && strikes()) {
            device.simulation.sleep(FOR_EVER)
            throw IllegalStateException("It was never shown.")
        }
    }

    override fun answer(request: TransportRequest, timeout: Long, maxBytes: Int): TransportResponse? {
        val kind = stage(request)
        // Both stages ask for a token: one because the old one has expired, one because it was refused.
        reach(if (stage == Stage.REFRESH && kind == Stage.TOKEN) Stage.REFRESH else kind)
        return if (strikes()) fail(request, timeout, maxBytes) else null
    }

    private fun fail(request: TransportRequest, timeout: Long, maxBytes: Int): TransportResponse? {
        when (fault.kind) {
            Fault.Kind.CONNECTION_REFUSED -> throw TransportException(TransportException.Reason.UNREACHABLE)
            Fault.Kind.TIMEOUT, Fault.Kind.SLOW_BODY -> {
                // The server has done its work; its answer is lost. A slow body does not keep to the time-out.
                device.server.respond(request)
                device.simulation.sleep(if (fault.kind == Fault.Kind.TIMEOUT) timeout else 600_000)
                throw TransportException(TransportException.Reason.TIMED_OUT)
            }
            Fault.Kind.TLS_FAILURE -> throw TransportException(TransportException.Reason.UNTRUSTED)
            Fault.Kind.REDIRECT -> return TransportResponse(302, mapOf("Location" to "https://evil.example/"))
            Fault.Kind.TEN_MEGABYTES -> {
                if (maxBytes < TEN_MEGABYTES) throw TransportException(TransportException.Reason.TOO_LARGE)
                return TransportResponse(200, body = ByteArray(TEN_MEGABYTES))
            }
            Fault.Kind.WRONG_JSON -> return TransportResponse(200, body = "{\"Id\":7,\"Payload\":".toByteArray())
            Fault.Kind.WRONG_ID -> return TransportResponse(200, body = WRONG_ID.toByteArray())
            Fault.Kind.STATUS -> return SimulatedServer.refusal(
                fault.status, fault.retryAfter?.let { mapOf("Retry-After" to "$it") } ?: emptyMap()
            )
            Fault.Kind.PROXY -> return SimulatedServer.ofProxy(fault.status)
            Fault.Kind.UNAUTHORIZED_AFTER_REFRESH -> return SimulatedServer.refusal(401)
            else -> return null
        }
    }

    /** The stage to which a request belongs. */
    private fun stage(request: TransportRequest): Stage = when {
        request.url.path.endsWith("/api/token") -> Stage.TOKEN
        request.url.path.endsWith("/api/push-keys") -> Stage.KEYS
        "/api/installations/" in request.url.path -> Stage.REGISTER
        request.url.path.endsWith("/shown") || request.url.path.endsWith("/read") -> Stage.MARK_SHOWN
        request.url.path.endsWith("/api/notifications") -> Stage.INBOX
        else -> Stage.FETCH
    }

    private companion object {
        /** Longer than a run. */
        const val FOR_EVER = 10 * 86_400_000L
        const val JUMP = 400 * 86_400_000L
        const val TEN_MEGABYTES = 10 shl 20
        const val WRONG_ID =
            "{\"Id\":\"019aa4a2-ffff-7000-8000-000000000000\",\"Payload\":\"another's\",\"Read\":false}"
    }
}
