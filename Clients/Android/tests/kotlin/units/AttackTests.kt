package securepush.units

import org.json.JSONObject
import org.junit.Assert.assertEquals
import org.junit.Assert.assertTrue
import org.junit.Test
import securepush.Base64Url
import securepush.PushDevice
import securepush.PushID
import securepush.SenderKeySet
import securepush.simulation.EnvelopeSealer
import securepush.simulation.PushSigner
import securepush.simulation.SimulatedDevice
import securepush.simulation.SimulatedServer
import securepush.simulation.Simulation

/** A server that forges, replays, swaps, truncates and strips: nothing of it is shown. */
class AttackTests {
    private val simulation = Simulation()
    private val device = SimulatedDevice(simulation)
    private val server = device.server
    private val sender = PushSigner()
    private val stranger = PushSigner()
    private var isPinned = true

    private fun start() = device.start(
        encryptsEndToEnd = true, requiresEncryption = true,
        senders = if (isPinned) SenderKeySet.fromJwkSet(PushSigner.jwkSet(sender).toByteArray()) else null
    )

    private fun push(payload: Any): PushID {
        val id = server.send(payload)
        start().client.handle(device.push(id))
        return id
    }

    private val installation by lazy { start().client.register(PushDevice(PushDevice.Platform.FCM_V1, "token")) }
    private val jwk by lazy { JSONObject(server.bodies.last { it.first.endsWith("/key") }.second) }

    private fun sealer(recipient: String = SimulatedServer.USER, device: String = installation) =
        EnvelopeSealer(recipient, device, jwk)

    private fun genuine(text: String = "secret", signer: PushSigner? = sender) =
        sealer().seal("\"$text\"", simulation.date, signer = signer)

    private fun JSONObject.with(name: String, value: Any?): JSONObject = JSONObject(toString()).put(name, value)

    private fun JSONObject.changed(name: String, change: (ByteArray) -> ByteArray): JSONObject =
        with(name, Base64Url.encode(change(checkNotNull(Base64Url.decode(getString(name))))))

    private fun JSONObject.entry(change: (JSONObject) -> JSONObject): JSONObject =
        with("keys", JSONObject().put(installation, change(getJSONObject("keys").getJSONObject(installation))))

    private fun JSONObject.without(name: String): JSONObject = JSONObject(toString()).also { it.remove(name) }

    private fun flip(at: Int) = { bytes: ByteArray ->
        bytes.copyOf().also { it[at] = (it[at].toInt() xor 1).toByte() }
    }

    /** What the server makes of envelopes that it knows. */
    private fun attacks(): Map<String, Any> {
        val (one, other) = Pair(genuine("one"), genuine("other"))
        val day = 86_400_000L
        val foreign = EnvelopeSealer("mallory", installation, jwk)
        return mapOf(
            "another content under the same keys" to other.with("ct", one["ct"]).with("iv", one["iv"]),
            "another iv" to one.with("iv", other["iv"]), "another ct" to one.with("ct", other["ct"]),
            "the keys of another envelope" to one.with("keys", other["keys"]),
            "the ephemeral key of another envelope" to one.entry { entry ->
                entry.with("enc", other.getJSONObject("keys").getJSONObject(installation)["enc"])
            },
            "a bit of the content" to one.changed("ct", flip(3)), "a bit of the tag" to one.changed("ct", flip(130)),
            "a bit of the iv" to one.changed("iv", flip(0)),
            "a bit of the wrapped key" to one.entry { it.changed("ct", flip(47)) },
            "without the last byte" to one.changed("ct") { it.copyOf(it.size - 1) },
            "without the tag" to one.changed("ct") { it.copyOf(it.size - 16) },
            "with zeros behind" to one.changed("ct") { it + ByteArray(16) },
            "for another user" to foreign.seal("\"x\"", simulation.date, signer = sender),
            "for another device" to sealer(device = "another").seal("\"x\"", simulation.date, signer = sender),
            "91 days old" to sealer().seal("\"x\"", simulation.date - 91 * day, signer = sender),
            "two days ahead" to sealer().seal("\"x\"", simulation.date + 2 * day, signer = sender),
            "expired" to sealer().seal("\"x\"", simulation.date, simulation.date / 1_000, sender),
            "version 1" to one.with("e2e", 1), "version as a text" to one.with("e2e", "2"),
            "no envelope any more" to one.without("e2e"), "half a signature" to one.without("from"),
            "a plain text" to "forged", "a plain message" to JSONObject().put("Body", "forged"),
            "a plain content" to JSONObject().put("id", "x").put("at", 1).put("content", "forged"),
            "a content that is no document" to sealer().sealText("\"forged\"", sender),
            "a document without an ID" to sealer().sealText("{\"at\":1800000000,\"content\":\"x\"}", sender)
        )
    }

    /** What only the keys of the senders prevent. */
    private fun forgeries(): Map<String, Any> {
        val (one, other) = Pair(genuine("one"), genuine("other"))
        return mapOf(
            "not signed" to genuine(signer = null), "by a stranger" to genuine(signer = stranger),
            "by a stranger with the sender's name" to genuine(signer = stranger).with("from", sender.key.id),
            "the signature removed" to one.without("from").without("sig"),
            "the signature of another envelope" to one.with("sig", other["sig"]),
            "a bit of the signature" to one.changed("sig", flip(63)),
            "zeros as the signature" to one.with("sig", Base64Url.encode(ByteArray(64))),
            "another name" to one.with("from", "another")
        )
    }

    @Test
    fun nothingOfItIsShown() = simulation.run {
        device.logIn()
        val seen = push(genuine("the only one"))
        assertEquals(listOf("the only one"), device.screen.shown.map { it.second })
        val envelope = server.stored.single { it.id == seen }.payload
        val counts = ArrayList<String>()
        for (pinned in listOf(true, false)) {
            isPinned = pinned
            val all = attacks() + (if (pinned) forgeries() else emptyMap()) +
                mapOf("a repetition" to envelope, "one more" to envelope)
            for ((name, payload) in all) {
                val notices = device.screen.notices.size
                val id = push(payload)
                assertEquals(name, 0, device.screen.count(id))
                assertEquals("$name: the generic text, once", notices + 1, device.screen.notices.size)
                assertTrue(name, start().client.waiting().isEmpty())
            }
            counts.add("${all.size} ${if (pinned) "with" else "without"} the senders' keys")
        }
        assertEquals(1, device.screen.shown.size)
        println("Attacks of a server: ${counts.joinToString()}. Shown: ${device.screen.shown.size - 1}.")
    }
}
