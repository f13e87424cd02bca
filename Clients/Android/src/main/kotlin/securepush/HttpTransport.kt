package securepush

import java.io.ByteArrayOutputStream
import java.io.EOFException
import java.io.IOException
import java.io.InputStream
import java.net.HttpRetryException
import java.net.HttpURLConnection
import java.net.SocketException
import java.net.SocketTimeoutException
import java.security.cert.CertificateException
import javax.net.ssl.HttpsURLConnection
import javax.net.ssl.SSLException
import javax.net.ssl.SSLHandshakeException
import javax.net.ssl.SSLPeerUnverifiedException
import javax.net.ssl.SSLSocketFactory

/**
 * Sends requests by the platform's `HttpURLConnection`: without cache and redirects, with the platform's trusted
 * certificates, and with a limit for the size of a response that holds while it arrives.
 *
 * @param sslSocketFactory makes the connections for `https`: for certificates of your own, pins or a client's
 *   certificate. `null`: the platform's.
 */
class HttpTransport @JvmOverloads constructor(private val sslSocketFactory: SSLSocketFactory? = null) : Transport {
    override fun send(request: TransportRequest, timeout: Long, maxBytes: Int): TransportResponse {
        val end = System.nanoTime() + timeout * NANOS
        var connection: HttpURLConnection? = null
        var isReusable = false
        try {
            connection = request.url.toURL().openConnection() as HttpURLConnection
            prepare(connection, request, timeout)
            request.body?.let { body -> connection.outputStream.use { it.write(body) } }
            val status = connection.responseCode
            if (status < 0) throw TransportException(TransportException.Reason.UNREACHABLE)
            val body = body(connection, status, maxBytes, end)
            isReusable = true
            return TransportResponse(status, headers(connection), body)
        } catch (e: HttpRetryException) {
            // A 401 to a request with a body: the connection wants to send it again with other credentials.
            return TransportResponse(e.responseCode(), connection?.let { headers(it) } ?: emptyMap())
        } catch (e: SocketTimeoutException) {
            throw TransportException(TransportException.Reason.TIMED_OUT)
        } catch (e: SSLException) {
            throw TransportException(reason(e))
        } catch (e: IOException) {
            throw TransportException(TransportException.Reason.UNREACHABLE)
        } catch (e: RuntimeException) {
            // Android refuses what its network security configuration does not allow, such as plain HTTP.
            throw TransportException(TransportException.Reason.UNREACHABLE)
        } finally {
            // A connection whose response was read to its end serves the next request.
            if (!isReusable) connection?.disconnect()
        }
    }

    private fun prepare(connection: HttpURLConnection, request: TransportRequest, timeout: Long) {
        if (connection is HttpsURLConnection && sslSocketFactory != null) {
            connection.sslSocketFactory = sslSocketFactory
        }
        val millis = timeout.coerceIn(1, Int.MAX_VALUE.toLong()).toInt()
        connection.requestMethod = request.method
        connection.instanceFollowRedirects = false
        connection.useCaches = false
        connection.connectTimeout = millis
        connection.readTimeout = millis
        // Otherwise Android asks for gzip, and a small response may become a long one.
        connection.setRequestProperty("Accept-Encoding", "identity")
        for ((name, value) in request.headers) connection.setRequestProperty(name, value)
        if (request.body != null) {
            connection.doOutput = true
            // Sends the body once: the platform repeats no request by itself.
            connection.setFixedLengthStreamingMode(request.body.size)
        }
    }

    private fun body(connection: HttpURLConnection, status: Int, maxBytes: Int, end: Long): ByteArray {
        if (connection.contentLengthLong > maxBytes && connection.requestMethod != "HEAD") {
            throw TransportException(TransportException.Reason.TOO_LARGE)
        }
        val stream = (if (status >= 400) connection.errorStream else connection.inputStream) ?: return ByteArray(0)
        return stream.use { read(it, connection.contentLengthLong, maxBytes, end) }
    }

    private fun read(stream: InputStream, length: Long, maxBytes: Int, end: Long): ByteArray {
        val content = ByteArrayOutputStream(length.coerceIn(0, maxBytes.toLong()).toInt())
        val buffer = ByteArray(BUFFER_BYTES)
        while (true) {
            val count = stream.read(buffer)
            if (count < 0) return content.toByteArray()
            if (content.size() + count > maxBytes) throw TransportException(TransportException.Reason.TOO_LARGE)
            content.write(buffer, 0, count)
            if (System.nanoTime() - end > 0 || Thread.currentThread().isInterrupted) {
                throw TransportException(TransportException.Reason.TIMED_OUT)
            }
        }
    }

    private fun headers(connection: HttpURLConnection): Map<String, String> {
        val headers = LinkedHashMap<String, String>()
        for ((name: String?, values: List<String>?) in connection.headerFields) {
            // The status line has no name.
            if (name != null && !values.isNullOrEmpty()) headers[name] = values.joinToString(", ")
        }
        return headers
    }

    /** A handshake that breaks off says nothing about the certificate. */
    private fun reason(problem: SSLException): TransportException.Reason {
        val causes = generateSequence<Throwable>(problem) { it.cause }.take(MAX_CAUSES).toList()
        return when {
            causes.any { it is CertificateException || it is SSLPeerUnverifiedException } ->
                TransportException.Reason.UNTRUSTED
            causes.any { it is EOFException || it is SocketException } -> TransportException.Reason.UNREACHABLE
            problem is SSLHandshakeException -> TransportException.Reason.UNTRUSTED
            else -> TransportException.Reason.UNREACHABLE
        }
    }

    private companion object {
        const val NANOS = 1_000_000L
        const val BUFFER_BYTES = 16 shl 10
        const val MAX_CAUSES = 16
    }
}
