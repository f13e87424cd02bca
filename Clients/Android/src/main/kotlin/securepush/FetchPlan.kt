package securepush

/**
 * Decides after each try of a request whether to try again. It waits for nothing itself.
 *
 * A request is repeated after errors that can heal: no connection, a time-out, 408, 429 and 5xx. After 401 the
 * credentials are refreshed once. Everything else is final. All times are in milliseconds.
 *
 * @param deadline the [ClientClock.uptime] at which everything ends.
 */
internal class FetchPlan(private val deadline: Long, private val millisPerTry: Long) {
    /** The end of a try. */
    sealed class Event {
        data class Response(val status: Int, val retryAfter: Long?) : Event()
        data class Transport(val reason: TransportException.Reason) : Event()
        /** The credentials cannot be read or refreshed now. */
        object NoCredentials : Event()
    }

    sealed class Step {
        data class Retry(val after: Long) : Step()
        object RefreshCredentials : Step()
        object Finish : Step()
    }

    private var retries = 0
    private var hasRefreshed = false

    /** The time-out of a try that begins now; `null` if there is no time for one. */
    fun timeout(uptime: Long): Long? {
        val left = deadline - uptime
        return if (left >= SHORTEST_TRY) minOf(left, millisPerTry) else null
    }

    fun step(event: Event, uptime: Long): Step = when (event) {
        is Event.NoCredentials -> retry(null, uptime)
        is Event.Transport -> when (event.reason) {
            TransportException.Reason.UNREACHABLE, TransportException.Reason.TIMED_OUT -> retry(null, uptime)
            TransportException.Reason.UNTRUSTED, TransportException.Reason.TOO_LARGE -> Step.Finish
        }
        is Event.Response -> when (event.status) {
            401 -> refresh()
            408, 429, in 500..599 -> retry(event.retryAfter, uptime)
            else -> Step.Finish
        }
    }

    private fun refresh(): Step {
        if (hasRefreshed) return Step.Finish
        hasRefreshed = true
        return Step.RefreshCredentials
    }

    /** The delays fit four quick tries into the total time. */
    private fun retry(wanted: Long?, uptime: Long): Step {
        val delay = maxOf(DELAYS[minOf(retries, DELAYS.size - 1)], wanted ?: 0)
        if (uptime + delay + SHORTEST_TRY > deadline) return Step.Finish
        retries += 1
        return Step.Retry(delay)
    }

    private companion object {
        val DELAYS = longArrayOf(1_000, 2_000, 3_000, 5_000)
        /** The shortest time for a try. A shorter one only costs battery. */
        const val SHORTEST_TRY = 500L
    }
}
