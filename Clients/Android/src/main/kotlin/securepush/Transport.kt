package securepush

import java.net.URI
import java.util.Locale

/**
 * Sends one request and returns its response. [HttpTransport] is the real one; tests inject a simulated one.
 *
 * A transport follows no redirect, so that credentials go to no other host.
 */
interface Transport {
    /**
     * Sends a request, and waits for the response. The client calls it on a thread of its own, and interrupts that
     * thread when the time is up.
     *
     * @param timeout the longest time for the whole exchange, in milliseconds.
     * @param maxBytes the longest body to accept.
     * @throws TransportException if there is no response.
     */
    @Throws(TransportException::class, InterruptedException::class)
    fun send(request: TransportRequest, timeout: Long, maxBytes: Int): TransportResponse
}

/** A request to the retrieval service. Its URL begins with [SecurePushConfiguration.retrievalUrl]. */
class TransportRequest(
    /** `GET`, `HEAD`, `PUT`, `POST` or `DELETE`. */
    val method: String,
    /** The whole URL. */
    val url: URI,
    /** The header fields, `Authorization` included: never log them. */
    val headers: Map<String, String> = emptyMap(),
    /** The body; `null` for none. */
    val body: ByteArray? = null
) {
    override fun toString(): String = "$method ${url.rawPath}"
}

/** A response of the retrieval service. */
class TransportResponse(
    /** The HTTP status. */
    val status: Int,
    headers: Map<String, String> = emptyMap(),
    /** The body: a secret in a successful fetch. */
    val body: ByteArray = ByteArray(0)
) {
    /** The header fields, with names in lower case. */
    val headers: Map<String, String> = headers.entries.associate { lowerCase(it.key) to it.value }

    override fun toString(): String = "response $status"
}

/** Why there is no response. */
class TransportException(
    /** The reason. */
    val reason: Reason
) : Exception(reason.toString()) {
    /** Why there is no response. */
    enum class Reason {
        /** No connection, or it broke. Another try can succeed. */
        UNREACHABLE,
        /** No complete response within the time-out. Another try can succeed. */
        TIMED_OUT,
        /** The server's certificate is not trusted. Another try does not help. */
        UNTRUSTED,
        /** The body is longer than the limit. Another try does not help. */
        TOO_LARGE
    }

    /** The code for support. */
    internal val code: DiagnosticCode
        get() = when (reason) {
            Reason.UNREACHABLE -> DiagnosticCode.UNREACHABLE
            Reason.TIMED_OUT -> DiagnosticCode.TIMED_OUT
            Reason.UNTRUSTED -> DiagnosticCode.UNTRUSTED
            Reason.TOO_LARGE -> DiagnosticCode.TOO_LARGE
        }
}

/** Java's function, because Kotlin has renamed its own. */
@Suppress("PLATFORM_CLASS_MAPPED_TO_KOTLIN")
internal fun lowerCase(text: String): String = (text as java.lang.String).toLowerCase(Locale.ROOT)
