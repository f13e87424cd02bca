package securepush.simulation

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
