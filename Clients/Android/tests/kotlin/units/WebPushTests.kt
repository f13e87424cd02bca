package securepush.units

import java.io.File
import org.json.JSONObject
import org.junit.Assert.assertArrayEquals
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertNotEquals
import org.junit.Assert.assertNotNull
import org.junit.Assert.assertNull
import org.junit.Assert.assertTrue
import org.junit.Rule
import org.junit.Test
import org.junit.rules.TemporaryFolder
import securepush.Base64Url
import securepush.ClientStoreException
import securepush.DiagnosticCode
import securepush.PushDevice
import securepush.SecretBox
import securepush.SecurePushFailure
import securepush.WebPushBody
import securepush.WebPushKeyStore
import securepush.WebPushKeys
import securepush.WebPushSubscription
import securepush.readServerKey
import securepush.simulation.SimulatedDevice
import securepush.simulation.Simulation
import securepush.simulation.WebPushSealer

/** Bodies of Web Push, keys, and registrations with them. */
class WebPushTests {
    @get:Rule val temporary = TemporaryFolder()

    private fun bytes(text: String): ByteArray = checkNotNull(Base64Url.decode(text))

    /** RFC 8291, section 5 and appendix A. */
    private val receiver = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
    private val auth = "BTBZMqHH6r4Tts7J_aSIgg"
    private val example = bytes(
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBr" +
            "u3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
    )
    private val keys = checkNotNull(
        WebPushKeys.of(bytes("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94") + bytes(receiver) + bytes(auth))
    )
    private val push = "{\"secureId\":\"019aa4a2-1c9b-7000-8000-000000000002\"}"

    private fun text(body: ByteArray): String? = WebPushBody.open(body, keys)?.let { String(it) }

    @Test
    fun theExampleOfRfc8291IsOpened() {
        assertEquals("When I grow up, I want to be a watermelon", text(example))
        assertEquals(receiver, keys.p256dh)
        assertEquals(auth, keys.auth)
    }

    /** For the keys of the example, by `securepush serve hub` and the Python libraries http_ece and pywebpush. */
    @Test
    fun bodiesOfSendersAreOpened() {
        val hub = "NveAekAACCxGPvWKNSZBHQAAEABBBICVmk7f6aTohIUM8IDTXMSMvmZWBNIcUzNaZa2rLGSz0ICRkTrCpWB4rPKDAzJP5Yju" +
            "3N6mWh3O0ch_IiETqG9XXvn0a_bNq5xXaI27-RcKDEbpxCS-cAWG3Zs9twxfl9VcwHHYUF5I_slXb7fxxuz4mAb6d0bi6ScZ" +
            "X2xqab9Z5dwjhoBoDFSJ2RHd8BmTUj1eMd3mYCAUwAeQEOZGQfxsPxajksxN_9IkIqhNWkyXQwF4zeNKI-AgwdAc_rFNj225" +
            "lPFSkMKspg9BQNeAPheQ"
        val ece = "oze4btHAD_AmUvmUFYnVbQAAEABBBBpj-8rkr8g6vcf116_Ioic87l_pvjAOUSsjeXRT2r88h-2veTKWvI0SMPa54a" +
            "i_3CTQe1RDaZ5uHJCSf8JWhWH2eLmtw2FWERWxo4t60yUFLQQz9RWY3svChB_S3XYs95ymkB96DyxjqWzYE-P8SsqQ" +
            "F8TwqAQYBBXEtXB20qhGz4aPrg"
        val pywebpush = "EmfU7AHX8N0f6cYgPHvRCQAAEABBBDgD_1XNkDxeezVTRWuohZkUYqw7Bx0tNtUv_ejZWqnsk-aezJROM1uKA0JF6d" +
            "TrL0VafH_5PQmHNK0pULTCh4uaUSRAgFdco97PcMJHwp1DsP8PEcbstu1Ga9GRg64WW0GMpOmxvlWRJAhkc1dGNyd8" +
            "-5DQLWwKYe_lVDajgvnuEMmvbw"
        for (body in listOf(hub, ece, pywebpush)) {
            assertEquals(push, text(bytes(body)))
        }
        // Two records of 64 bytes.
        val two = "Ji-cWMbkvhRIAFMSXKwpsAAAAEBBBGkBHgvVPpwv2VNu0LwQg1i_8i4pLyNq2UUO6A7H9Q2DS2yjhvdEGaefX8KFAI-3yIzd" +
            "txRmTaQknwmglpiglVxFKnzmujoZFioK6J6zCVv6arZE4xSI9C9VoZ63c6ikRh14PApFprHuMV6aPaWm1FSe7QGcY4cjKFdR" +
            "d0_yPEX5iGRzPIBWmvuEyqFeQU61mcFgXfFu"
        assertNull(text(bytes(two)))
    }

    @Test
    fun everyChangeIsNoticed() {
        // The record size is not encrypted: only one that is too small for the record is noticed.
        for (index in example.indices.filter { it !in 16..18 }) {
            val changed = example.copyOf().also { it[index] = (it[index].toInt() xor 0x40).toByte() }
            val isRead = index == 19
            assertEquals("$index", isRead, text(changed) == "When I grow up, I want to be a watermelon")
        }
        for (length in example.indices) assertNull("$length", text(example.copyOf(length)))
        assertNull(text(example + byteArrayOf(0)))
        assertNull("other keys", WebPushBody.open(example, WebPushKeys.generate()))
        val otherSecret = checkNotNull(WebPushKeys.of(keys.encoded.also { it[112] = 1 }))
        assertNull(WebPushBody.open(example, otherSecret))
    }

    @Test
    fun aBodyHasOneRecordOfTheRightForm() {
        val sealer = WebPushSealer(receiver, auth)
        val content = push.toByteArray()
        for (padding in listOf(0, 1, 77, 3_000)) assertEquals(push, text(sealer.seal(content, padding = padding)))
        val most = ByteArray(3_993) { 'x'.toByte() }
        assertArrayEquals(most, WebPushBody.open(sealer.seal(most), keys))
        assertNull("too long", text(sealer.seal(most, padding = 1)))
        assertEquals("", text(sealer.seal(ByteArray(0))))
        assertNull("not the last record", text(sealer.seal(content, delimiters = listOf(1))))
        for (other in listOf(0, 3, 255)) assertNull(text(sealer.seal(content, delimiters = listOf(other))))
        val record = content.size + 17
        assertEquals("a full record", push, text(sealer.seal(content, recordSize = record)))
        assertNull(text(sealer.seal(content, recordSize = record - 1)))
        assertNull("two records", text(sealer.seal(content, content, recordSize = record)))
        assertNull("two records in one", text(sealer.seal(content, content)))
        for (size in listOf(0, 17)) assertNull(text(sealer.seal(content, recordSize = size)))
        assertEquals("4 GiB", push, text(sealer.seal(content, recordSize = -1)))
    }

    @Test
    fun aPointThatIsNotOnTheCurveIsRefused() {
        for (point in listOf(ByteArray(65), byteArrayOf(4) + ByteArray(64), bytes(receiver).also { it[64] = 0 })) {
            assertNull(keys.agree(point))
            System.arraycopy(point, 0, example, 21, 65)
            assertNull(text(example))
        }
        assertNull(keys.agree(bytes(receiver).copyOf(33)))
        assertNull(keys.agree(ByteArray(0)))
        assertNull(WebPushKeys.of(keys.encoded.copyOf(112)))
        assertNull("a key of zero", WebPushKeys.of(keys.encoded.also { it.fill(0, 0, 32) }))
        assertNull("a key beyond the order", WebPushKeys.of(keys.encoded.also { it.fill(-1, 0, 32) }))
    }

    @Test
    fun keysAgreeAndAreCodedInFixedLengths() {
        // One key of 256 has a coordinate or a number with a zero in front.
        for (number in 1..150) {
            val (mine, other) = Pair(WebPushKeys.generate(), WebPushKeys.generate())
            assertArrayEquals(mine.agree(other.publicPoint), other.agree(mine.publicPoint))
            assertArrayEquals(mine.encoded, WebPushKeys.of(mine.encoded)?.encoded)
        }
        assertEquals("keys for Web Push", keys.toString())
    }

    /** A box that turns bits around; it can lose its key, and fail. */
    private class Box : SecretBox {
        var isLost = false
        var fails = false

        private fun turn(content: ByteArray) = ByteArray(content.size) { (content[it].toInt() xor 0x55).toByte() }

        override fun seal(content: ByteArray): ByteArray = if (fails) throw IllegalStateException() else turn(content)

        override fun open(sealed: ByteArray): ByteArray? =
            if (fails) throw IllegalStateException() else if (isLost) null else turn(sealed)
    }

    private fun reason(action: () -> Unit): ClientStoreException.Reason? = try {
        action()
        null
    } catch (e: ClientStoreException) {
        e.reason
    }

    @Test
    fun keysAreKeptEncrypted() {
        val folder = File(temporary.root, "store")
        val box = Box()
        val store = WebPushKeyStore(folder, box)
        assertNull(store.find())
        val made = store.findOrMake()
        assertArrayEquals(made.encoded, WebPushKeyStore(folder, box).findOrMake().encoded)
        val file = checkNotNull(folder.listFiles()?.single())
        assertFalse(made.auth in String(file.readBytes(), Charsets.ISO_8859_1))
        assertFalse(made.encoded.contentEquals(file.readBytes()))
        box.fails = true
        assertEquals(ClientStoreException.Reason.UNREADABLE, reason { store.find() })
        assertEquals("no new keys now", ClientStoreException.Reason.UNREADABLE, reason { store.findOrMake() })
        box.fails = false
        box.isLost = true
        assertNull(store.find())
        assertNotEquals(made.p256dh, store.findOrMake().p256dh)
        box.isLost = false
        file.writeBytes(byteArrayOf(1, 2, 3))
        assertNull("damaged", store.find())
        store.findOrMake()
        store.remove()
        store.remove()
        assertNull(store.find())
        box.fails = true
        assertEquals(ClientStoreException.Reason.UNWRITABLE, reason { store.findOrMake() })
    }

    @Test
    fun onlyUsableSubscriptionsAreTaken() {
        val endpoint = "https://push.example.com/up/1"
        val subscription = checkNotNull(WebPushSubscription.of(endpoint, "$receiver=", "$auth=="))
        assertEquals("$receiver $auth", "${subscription.p256dh} ${subscription.auth}")
        assertEquals("subscription", subscription.toString())
        assertNotNull(WebPushSubscription.of("https://a/" + "x".repeat(990), receiver, auth))
        val unusable = listOf(
            "", "http://push.example.com/", "https://a/" + "x".repeat(991), "https://a/\n", "https://a/ä", "mailto:a"
        )
        for (other in unusable) assertNull(other, WebPushSubscription.of(other, receiver, auth))
        for (key in listOf("", "library", auth, receiver.dropLast(1), receiver.dropLast(2) + "w8")) {
            assertNull(key, WebPushSubscription.of(endpoint, key, auth))
        }
        for (secret in listOf("", "AA", receiver)) assertNull(WebPushSubscription.of(endpoint, receiver, secret))
    }

    @Test
    fun aBrowsersChannelIsRegisteredWithItsKeys() {
        val simulation = Simulation()
        val device = SimulatedDevice(simulation)
        val endpoint = "https://push.example.com/up/1"
        fun phone(keys: WebPushKeys, tag: String = "news") =
            PushDevice(checkNotNull(WebPushSubscription.of(endpoint, keys.p256dh, keys.auth)), listOf(tag))
        simulation.run {
            device.logIn()
            val id = device.start().client.register(phone(keys))
            device.start().client.register(phone(keys))
            val bodies = device.server.bodies.filter { it.first == "PUT /api/installations/$id" }
            val body = JSONObject(bodies.single().second)
            assertEquals("browser [\"news\"]", "${body.getString("platform")} ${body.getJSONArray("tags")}")
            val channel = body.getJSONObject("pushChannel")
            assertEquals(
                listOf(endpoint, receiver, auth), listOf("endpoint", "p256dh", "auth").map { channel.getString(it) }
            )
            assertEquals("new keys", id, device.start().client.register(phone(WebPushKeys.generate())))
            assertEquals(2, device.server.count("PUT"))
        }
        assertFalse(endpoint in phone(keys).toString())
        try {
            PushDevice(PushDevice.Platform.BROWSER, endpoint)
            throw AssertionError("It has no keys.")
        } catch (e: IllegalArgumentException) {
            assertTrue(checkNotNull(e.message).contains("WebPushSubscription"))
        }
    }

    @Test
    fun theServersKeyIsChecked() {
        val simulation = Simulation()
        val device = SimulatedDevice(simulation)
        fun answer(config: String?): String? {
            device.server.pushConfig = config
            return try {
                device.start().client.readServerKey() ?: "none"
            } catch (e: SecurePushFailure) {
                e.code.rawValue
            }
        }
        simulation.run {
            assertEquals("none", answer(null))
            assertEquals(receiver, answer("{\"ApplicationServerKey\":\"$receiver\"}"))
            val wrong = listOf("{}", "[]", "", "{\"ApplicationServerKey\":7}", "{\"ApplicationServerKey\":\"$auth\"}")
            for (config in wrong) assertEquals(DiagnosticCode.MALFORMED_ANSWER.rawValue, answer(config))
        }
    }
}
