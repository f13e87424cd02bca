package securepush.simulation

import securepush.TransportException
import securepush.TransportRequest
import securepush.TransportResponse

/** What goes wrong on a device. Every function throws what goes wrong. */
interface DeviceFaults {
    /** A call of the store. */
    fun store(writes: Boolean)

    /** A secret is shown. */
    fun present()

    /** The answer to a request, or what goes wrong with it; `null`: the server answers. */
    fun answer(request: TransportRequest, timeout: Long, maxBytes: Int): TransportResponse?
}

/** Nothing goes wrong. */
object NoFaults : DeviceFaults {
    override fun store(writes: Boolean) = Unit

    override fun present() = Unit

    override fun answer(request: TransportRequest, timeout: Long, maxBytes: Int): TransportResponse? = null
}

/** What goes wrong with single requests. */
class RequestFaults : DeviceFaults by NoFaults {
    private class Fault(val prefix: String, var times: Int, val answer: () -> TransportResponse?)

    private val faults = ArrayList<Fault>()

    /**
     * Answers the next requests that begin with a text, such as `GET /api/notifications?Limit`.
     *
     * @param answer the answer, or what goes wrong; `null`: the server answers after it.
     */
    fun fail(prefix: String, times: Int = 1, answer: () -> TransportResponse?) {
        faults.add(Fault(prefix, times, answer))
    }

    /** The next requests that begin with a text do not reach the server. */
    fun disconnect(prefix: String, times: Int = 50) =
        fail(prefix, times) { throw TransportException(TransportException.Reason.UNREACHABLE) }

    /** Everything works again. */
    fun clear() = faults.clear()

    override fun answer(request: TransportRequest, timeout: Long, maxBytes: Int): TransportResponse? {
        val text = "${request.method} ${request.url.path}" + (request.url.query?.let { "?$it" } ?: "")
        val fault = faults.find { it.times > 0 && text.startsWith(it.prefix) } ?: return null
        fault.times -= 1
        return fault.answer()
    }
}
