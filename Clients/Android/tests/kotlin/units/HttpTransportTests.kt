package securepush.units

import com.sun.net.httpserver.HttpExchange
import com.sun.net.httpserver.HttpServer
import com.sun.net.httpserver.HttpsConfigurator
import com.sun.net.httpserver.HttpsServer
import java.io.File
import java.io.FileInputStream
import java.net.InetAddress
import java.net.InetSocketAddress
import java.net.ServerSocket
import java.net.URI
import java.security.KeyStore
import java.util.concurrent.CopyOnWriteArrayList
import java.util.concurrent.Executors
import javax.net.ssl.KeyManagerFactory
import javax.net.ssl.SSLContext
import javax.net.ssl.TrustManagerFactory
import org.junit.After
import org.junit.Assert.assertEquals
import org.junit.Assert.assertTrue
import org.junit.Rule
import org.junit.Test
import org.junit.rules.TemporaryFolder
import securepush.HttpTransport
import securepush.TransportException
import securepush.TransportRequest
import securepush.TransportResponse

/** The transport against real servers on the loopback interface. */
class HttpTransportTests {
    @get:Rule val folder = TemporaryFolder()
    private val threads = Executors.newCachedThreadPool()
    private val requests = CopyOnWriteArrayList<String>()
    private val server = start(HttpServer.create(loopback(), 0))
    private val address = "http://127.0.0.1:${server.address.port}"

    private fun loopback() = InetSocketAddress(InetAddress.getLoopbackAddress(), 0)

    private fun start(server: HttpServer): HttpServer {
        server.executor = threads
        server.createContext("/") { exchange -> answer(exchange) }
        server.start()
        return server
    }

    private fun answer(exchange: HttpExchange) {
        val body = exchange.requestBody.readBytes()
        requests.add("${exchange.requestMethod} ${exchange.requestURI} ${String(body)}")
        val path = exchange.requestURI.path
        when {
            path == "/redirect" -> {
                exchange.responseHeaders.add("Location", "/elsewhere")
                exchange.sendResponseHeaders(302, -1)
            }
            path == "/large" -> {
                exchange.sendResponseHeaders(200, LARGE.toLong())
                exchange.responseBody.write(ByteArray(LARGE))
            }
            path == "/endless" -> {
                exchange.sendResponseHeaders(200, 0)
                while (true) exchange.responseBody.write(ByteArray(1_024))
            }
            path == "/drip" -> {
                exchange.sendResponseHeaders(200, 0)
                while (true) {
                    exchange.responseBody.write(1)
                    exchange.responseBody.flush()
                    Thread.sleep(50)
                }
            }
            path.startsWith("/status/") -> {
                exchange.responseHeaders.add("Retry-After", "7")
                exchange.responseHeaders.add("WWW-Authenticate", "Bearer error=\"invalid_token\"")
                exchange.responseHeaders.add("WWW-Authenticate", "Basic realm=\"x\"")
                exchange.responseHeaders.add("Content-Type", "application/problem+json")
                exchange.sendResponseHeaders(path.removePrefix("/status/").toInt(), -1)
            }
            else -> {
                exchange.responseHeaders.add("X-Method", exchange.requestMethod)
                exchange.sendResponseHeaders(200, if (exchange.requestMethod == "HEAD") -1 else 5)
                if (exchange.requestMethod != "HEAD") exchange.responseBody.write("hello".toByteArray())
            }
        }
        exchange.close()
    }

    @After
    fun stop() {
        server.stop(0)
        threads.shutdownNow()
    }

    private fun send(
        path: String, method: String = "GET", body: ByteArray? = null, timeout: Long = 5_000, maxBytes: Int = 10_000
    ): TransportResponse =
        HttpTransport().send(TransportRequest(method, URI(address + path), mapOf("A" to "b"), body), timeout, maxBytes)

    private fun reason(action: () -> Unit): TransportException.Reason? = try {
        action()
        null
    } catch (e: TransportException) {
        e.reason
    }

    @Test
    fun everyMethodIsSent() {
        for (method in listOf("GET", "PUT", "POST", "DELETE", "HEAD")) {
            val body = if (method == "GET" || method == "HEAD") null else "{}".toByteArray()
            val response = send("/x?a=b", method, body)
            assertEquals(200, response.status)
            assertEquals(method, response.headers["x-method"])
            assertEquals(if (method == "HEAD") "" else "hello", String(response.body))
            assertEquals("$method /x?a=b ${if (body == null) "" else "{}"}", requests.last())
        }
        assertEquals(5, requests.size)
    }

    @Test
    fun redirectsAreNotFollowed() {
        val response = send("/redirect")
        assertEquals(302, response.status)
        assertEquals(1, requests.size)
    }

    @Test
    fun errorsAreResponses() {
        for (status in listOf(400, 401, 403, 404, 410, 429, 500, 503)) {
            assertEquals(status, send("/status/$status").status)
            assertEquals(status, send("/status/$status", "POST", "{}".toByteArray()).status)
            assertEquals(status, send("/status/$status", "HEAD").status)
        }
        assertEquals("7", send("/status/429").headers["retry-after"])
    }

    /** The client knows the server's 401 by its headers, also that of a request with a body. */
    @Test
    fun aRefusalHasItsHeaders() {
        val responses = listOf(
            send("/status/401"), send("/status/401", "HEAD"), send("/status/401", "POST", "{}".toByteArray())
        )
        for (response in responses) {
            assertEquals("application/problem+json", response.headers["content-type"])
            val challenges = checkNotNull(response.headers["www-authenticate"])
            assertTrue(challenges, "Bearer" in challenges && "Basic" in challenges)
        }
    }

    @Test
    fun longBodiesAreRefused() {
        assertEquals(TransportException.Reason.TOO_LARGE, reason { send("/large") })
        assertEquals(TransportException.Reason.TOO_LARGE, reason { send("/endless") })
        assertEquals(LARGE, send("/large", maxBytes = LARGE).body.size)
    }

    @Test
    fun slowServersTimeOut() {
        val begin = System.nanoTime()
        assertEquals(TransportException.Reason.TIMED_OUT, reason { send("/drip", timeout = 300) })
        ServerSocket(0, 1, InetAddress.getLoopbackAddress()).use { silent ->
            val url = URI("http://127.0.0.1:${silent.localPort}/")
            val reason = reason { HttpTransport().send(TransportRequest("GET", url), 300, 100) }
            assertEquals(TransportException.Reason.TIMED_OUT, reason)
        }
        assertTrue(System.nanoTime() - begin < 10_000_000_000)
    }

    @Test
    fun brokenConnectionsAreUnreachable() {
        val port = ServerSocket(0, 1, InetAddress.getLoopbackAddress()).use { it.localPort }
        val closed = TransportRequest("GET", URI("http://127.0.0.1:$port/"))
        assertEquals(TransportException.Reason.UNREACHABLE, reason { HttpTransport().send(closed, 1_000, 100) })
        ServerSocket(0, 5, InetAddress.getLoopbackAddress()).use { rude ->
            threads.execute {
                try {
                    while (true) rude.accept().use { it.getOutputStream().write("not HTTP\r\n\r\n".toByteArray()) }
                } catch (e: java.io.IOException) {
                    return@execute
                }
            }
            val request = TransportRequest("GET", URI("http://127.0.0.1:${rude.localPort}/"))
            assertEquals(TransportException.Reason.UNREACHABLE, reason { HttpTransport().send(request, 1_000, 100) })
        }
    }

    @Test
    fun unknownCertificatesAreUntrusted() {
        val store = File(folder.root, "key.p12")
        val command = listOf(
            "keytool", "-genkeypair", "-alias", "a", "-keyalg", "EC", "-dname", "CN=localhost", "-storepass", "secret",
            "-storetype", "PKCS12", "-keystore", store.path, "-ext", "SAN=ip:127.0.0.1"
        )
        assertEquals(0, ProcessBuilder(command).redirectErrorStream(true).start().waitFor())
        val keys = KeyStore.getInstance("PKCS12").apply { load(FileInputStream(store), "secret".toCharArray()) }
        val managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm())
        managers.init(keys, "secret".toCharArray())
        val context = SSLContext.getInstance("TLS").apply { init(managers.keyManagers, null, null) }
        val secure = HttpsServer.create(loopback(), 0).apply { httpsConfigurator = HttpsConfigurator(context) }
        start(secure)
        try {
            val request = TransportRequest("GET", URI("https://127.0.0.1:${secure.address.port}/"))
            assertEquals(TransportException.Reason.UNTRUSTED, reason { HttpTransport().send(request, 5_000, 100) })
            // A port that speaks no TLS says nothing about a certificate.
            val plain = TransportRequest("GET", URI("https://127.0.0.1:${server.address.port}/"))
            val reason = reason { HttpTransport().send(plain, 5_000, 100) }
            assertTrue("$reason", reason != null && reason != TransportException.Reason.TOO_LARGE)
            assertEquals(0, requests.size)
            // An app with a certificate authority of its own, or with pins.
            val trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm()).apply { init(keys) }
            val own = SSLContext.getInstance("TLS").apply { init(null, trust.trustManagers, null) }
            assertEquals(200, HttpTransport(own.socketFactory).send(request, 5_000, 100).status)
        } finally {
            secure.stop(0)
        }
    }

    private companion object {
        const val LARGE = 200_000
    }
}
