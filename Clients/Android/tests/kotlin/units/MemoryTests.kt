package securepush.units

import com.sun.management.ThreadMXBean
import com.sun.net.httpserver.HttpServer
import java.lang.management.ManagementFactory
import java.net.InetAddress
import java.net.InetSocketAddress
import java.net.URI
import java.util.concurrent.Executors
import org.json.JSONObject
import org.junit.After
import org.junit.Assert.assertEquals
import org.junit.Assert.assertTrue
import org.junit.Rule
import org.junit.Test
import org.junit.rules.TemporaryFolder
import securepush.ClientCredentials
import securepush.ClientState
import securepush.FileClientStore
import securepush.FixedCredentialsProvider
import securepush.GenericNotice
import securepush.HttpTransport
import securepush.IncomingPush
import securepush.LogInPrompt
import securepush.NotificationPresenter
import securepush.PushID
import securepush.RegistrationRecord
import securepush.SecretNotification
import securepush.SecurePushClient
import securepush.SecurePushConfiguration
import securepush.simulation.EnvelopeSealer

/**
 * The memory of a wake, with the real transport and the file store.
 *
 * The tests bound what a wake allocates, garbage included. So a wake can never need more, whenever the virtual machine
 * collects. What the machine itself and its libraries need is not bounded, and an earlier wake has loaded them.
 */
class MemoryTests {
    @get:Rule val folder = TemporaryFolder()
    private val answers = HashMap<String, String>()
    private val threads = Executors.newFixedThreadPool(2) { Thread(it, "server") }
    private val server = HttpServer.create(InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0)
    private val store by lazy { FileClientStore(folder.newFolder("store")) }
    private var length = 0

    init {
        server.executor = threads
        server.createContext("/") { exchange ->
            val id = exchange.requestURI.path.substringAfterLast("/")
            val body = (answers[id] ?: "{\"Notifications\":[],\"Unread\":0}").toByteArray()
            exchange.sendResponseHeaders(200, body.size.toLong())
            exchange.responseBody.write(body)
            exchange.close()
        }
        server.start()
    }

    @After
    fun stop() {
        server.stop(0)
        threads.shutdownNow()
    }

    /** Keeps the length of the last secret and nothing else, like a system that copies it away. */
    private inner class LengthPresenter : NotificationPresenter {
        override fun show(secret: SecretNotification) {
            length = secret.text?.length ?: 0
        }

        override fun show(notice: GenericNotice) = Unit
        override fun show(prompt: LogInPrompt) = Unit
        override fun remove(ids: List<PushID>) = Unit
        override fun removePrompt() = Unit
        override fun setBadge(count: Int) = Unit
        override fun displayedSecrets(): Set<PushID>? = null
    }

    /** The bytes that each living thread but the server's has allocated, by the thread's ID. */
    private fun allocated(): Map<Long, Long> {
        val bean = ManagementFactory.getThreadMXBean() as ThreadMXBean
        return bean.allThreadIds.filter { bean.getThreadInfo(it)?.threadName != "server" }
            .associateWith { maxOf(0, bean.getThreadAllocatedBytes(it)) }
    }

    /** Fetches and shows a payload, and bounds what that allocates. */
    private fun measure(name: String, payload: String, length: Int, maxMiB: Int) {
        val client = SecurePushClient(
            SecurePushConfiguration(URI("http://127.0.0.1:${server.address.port}")),
            FixedCredentialsProvider("alice", ClientCredentials.bearer("token")), store, HttpTransport(),
            LengthPresenter()
        )
        for ((id, text) in listOf("small" to "\"hi\"", "large" to payload)) {
            answers[id] = "{\"Id\":\"$id\",\"Payload\":$text,\"Read\":false,\"Unread\":0}"
        }
        client.handle(IncomingPush.of(mapOf("secureId" to "small")))
        val before = allocated()
        val report = client.handle(IncomingPush.of(mapOf("secureId" to "large")))
        // By thread: one that an earlier test left, and that ends during the wake, takes its own bytes with it.
        val kibibytes = allocated().map { (id, bytes) -> bytes - (before[id] ?: 0) }.sum() / 1_024
        println("Memory, 256 KiB $name: the wake allocated $kibibytes KiB, garbage included (at most $maxMiB MiB).")
        assertEquals(listOf("large"), report.shown.map { it.rawValue })
        assertEquals(length, this.length)
        assertTrue("measured", kibibytes > 256)
        assertTrue("$kibibytes KiB", kibibytes <= maxMiB * 1_024)
    }

    @Test
    fun aPlainPayload() = measure("plain", "\"${"x".repeat(LENGTH)}\"", LENGTH, 12)

    /** The longest JSON that it can have: each character as `\u00XX`. */
    @Test
    fun anEscapedPayload() = measure("escaped", "\"${"\\u0001".repeat(LENGTH)}\"", LENGTH, 16)

    /** The longest encrypted payload: 190,000 bytes are 253,334 in base64url. */
    @Test
    fun anEncryptedPayload() {
        val device = "0b1f7e8e-6a3e-4d8e-9a55-0d6f6b3c2a10"
        store.update { state: ClientState ->
            state.owner = "alice"
            state.registration = RegistrationRecord(device)
        }
        val now = System.currentTimeMillis()
        val jwk = JSONObject(store.makeEnvelopeKey(now).publicJwk)
        val payload = EnvelopeSealer("alice", device, jwk).seal("\"${"x".repeat(190_000)}\"", now)
        measure("encrypted", payload.toString(), 190_000, 24)
    }

    private companion object {
        const val LENGTH = 256 shl 10
    }
}
