package securepush.units

import org.json.JSONObject
import org.junit.Assert.assertEquals
import org.junit.Assert.assertNotEquals
import org.junit.Assert.assertNull
import org.junit.Test
import securepush.DiagnosticCode
import securepush.PushDevice
import securepush.PushID
import securepush.SecurePushFailure
import securepush.SenderKeySet
import securepush.WakeReport
import securepush.simulation.EnvelopeSealer
import securepush.simulation.PushSigner
import securepush.simulation.SimulatedDevice
import securepush.simulation.SimulatedServer
import securepush.simulation.Simulation

/** End-to-end encrypted payloads in a wake. */
class EndToEndTests {
    private val simulation = Simulation()
    private val device = SimulatedDevice(simulation)
    private val server = device.server
    private val phone = PushDevice(PushDevice.Platform.FCM_V1, "token")
    private val installation by lazy { device.start(encryptsEndToEnd = true).client.register(phone) }

    /** The keys that the server has got, in order. */
    private fun keys() = server.bodies.filter { it.first.endsWith("/key") }.map { JSONObject(it.second) }

    private val sealer by lazy { EnvelopeSealer(SimulatedServer.USER, installation, keys().last()) }

    private fun seal(text: String = "secret", signer: PushSigner? = null) =
        sealer.seal("\"$text\"", simulation.date, signer = signer)

    private fun push(id: PushID): WakeReport = device.start(encryptsEndToEnd = true).client.handle(device.push(id))

    /** Registers, so that there is a key. */
    private fun prepare() {
        device.logIn()
        sealer
    }

    @Test
    fun anEnvelopeIsOpenedAndShown() = simulation.run {
        prepare()
        val pushed = server.send(seal("pushed"))
        val missed = (1..3).map { server.send(seal("missed $it")) }
        val report = push(pushed)
        assertEquals(WakeReport.Result.NEW_DATA, report.result)
        assertEquals(listOf("pushed", "missed 1", "missed 2", "missed 3"), device.screen.shown.map { it.second })
        assertEquals(listOf(pushed) + missed, device.screen.shown.map { it.first })
    }

    @Test
    fun anEnvelopeThatIsNotForThisDeviceWaitsNoMore() = simulation.run {
        prepare()
        val other = EnvelopeSealer(SimulatedServer.USER, "another", keys().last())
        val id = server.send(other.seal("\"secret\"", simulation.date))
        assertEquals(DiagnosticCode.NO_KEY, push(id).code)
        assertEquals(listOf(DiagnosticCode.NO_KEY), device.screen.notices.map { it.code })
        val fetches = server.count("GET /api/notifications/$id")
        for (round in 1..3) device.start().client.catchUp()
        assertEquals(fetches, server.count("GET /api/notifications/$id"))
        push(id)
        assertEquals("another push tries again", fetches + 1, server.count("GET /api/notifications/$id"))
        assertEquals("the generic text is shown once", 1, device.screen.notices.size)
        assertEquals(emptyList<Any>(), device.start().client.waiting())
    }

    /** With `DISPATCH_WITHDRAW=read` the withdrawal of the own read comes, and another reader's. */
    @Test
    fun theWithdrawalOfTheOwnReadLeavesTheGenericText() = simulation.run {
        prepare()
        val other = EnvelopeSealer(SimulatedServer.USER, "another", keys().last())
        val (own, others) = (1..2).map { server.send(other.seal("\"secret\"", simulation.date)) }
        server.stored[1].isRead = true
        val app = device.start()
        for (id in listOf(own, others)) {
            app.client.handle(device.push(id))
            app.client.handle(device.push(id, withdraw = true))
        }
        assertEquals(listOf(others), device.screen.removed)
    }

    /** The server chooses the IDs of notifications. The app and a crash ask for the same one again. */
    @Test
    fun anEnvelopeIsShownUnderOneIDOnly() = simulation.run {
        prepare()
        val envelope = seal()
        val (first, second) = (1..2).map { server.send(envelope) }
        assertEquals(listOf(first), push(first).shown)
        assertEquals(listOf(DiagnosticCode.REPLAYED), device.screen.notices.map { it.code })
        assertEquals("it waits no more", emptyList<PushID>(), device.start().client.waiting())
        val client = device.start(encryptsEndToEnd = true).client
        assertEquals("secret", client.read(first).text)
        assertEquals(DiagnosticCode.REPLAYED, failure { client.read(second) })
        // Another user has been here meanwhile.
        client.logOut()
        device.logIn()
        assertEquals(DiagnosticCode.NO_KEY, push(server.send(envelope)).code)
    }

    private fun failure(work: () -> Unit): DiagnosticCode? = try {
        work()
        null
    } catch (e: SecurePushFailure) {
        e.code
    }

    /** Nothing is shown before it is remembered. */
    @Test
    fun aStoreThatRemembersNothingShowsNothing() = simulation.run {
        prepare()
        val id = server.send(seal())
        val app = device.start(encryptsEndToEnd = true)
        device.disk.refusesEnvelopes = true
        assertEquals(DiagnosticCode.NO_KEY, app.client.handle(device.push(id)).code)
        assertEquals(listOf(id), app.client.waiting())
        device.disk.refusesEnvelopes = false
        assertEquals(listOf(id), app.client.catchUp().shown)
    }

    @Test
    fun onlyEncryptedPayloadsOfKnownSendersAreShown() = simulation.run {
        prepare()
        val (known, stranger) = Pair(PushSigner(), PushSigner())
        fun start(encrypted: Boolean = false) = device.start(
            encryptsEndToEnd = true, senders = SenderKeySet.fromJwkSet(PushSigner.jwkSet(known).toByteArray()),
            requiresEncryption = encrypted
        )
        fun code(payload: Any, encrypted: Boolean = false) =
            start(encrypted).client.handle(device.push(server.send(payload))).code
        assertNull(code(seal("genuine", known)))
        assertEquals(DiagnosticCode.UNKNOWN_SENDER, code(seal("forged", stranger)))
        assertEquals(DiagnosticCode.UNKNOWN_SENDER, code(seal("not signed")))
        assertNull(code("plain"))
        assertEquals(DiagnosticCode.NOT_ENCRYPTED, code("plain", encrypted = true))
        // The server swaps the contents of two envelopes of one sender, and keeps the signature of one.
        val (one, other) = Pair(seal("one", known), seal("other", known))
        for (name in listOf("iv", "ct")) other.put(name, one.get(name))
        assertEquals(DiagnosticCode.UNKNOWN_SENDER, code(other))
        assertEquals(DiagnosticCode.UNOPENABLE, push(server.send(other)).code)
        assertEquals(listOf("genuine", "plain"), device.screen.shown.map { it.second })
        assertEquals("each once", 5, device.screen.notices.size)
    }

    @Test
    fun whatHasExpiredIsNotShown() = simulation.run {
        prepare()
        val now = simulation.date
        val id = server.send(sealer.seal("\"secret\"", now, exp = now / 1_000 + 60))
        assertEquals("secret", device.start(encryptsEndToEnd = true).client.read(id).text)
        simulation.sleep(60_000)
        assertEquals(DiagnosticCode.EXPIRED, push(id).code)
        assertEquals(emptyList<Any>(), device.screen.shown)
    }

    @Test
    fun aKeyIsReplacedAfter30DaysAndKeptFor90More() = simulation.run {
        prepare()
        val first = sealer
        val app = device.start(encryptsEndToEnd = true)
        val fingerprint = app.client.encryptionKeyFingerprint()
        simulation.dateOffset += 29 * DAY
        app.client.catchUp()
        assertEquals(1, keys().size)
        simulation.dateOffset += DAY
        // The server cannot be told. It still has the former key.
        server.keyStatuses.add(503)
        app.client.catchUp()
        push(server.send(seal("new key")))
        assertEquals("new key", device.screen.shown.last().second)
        simulation.dateOffset += DAY
        app.client.catchUp()
        assertEquals(3, keys().size)
        assertNotEquals(keys()[0].toString(), keys()[2].toString())
        assertNotEquals(fingerprint, app.client.encryptionKeyFingerprint())
        simulation.dateOffset += 88 * DAY
        assertEquals(1, push(server.send(first.seal("\"late\"", simulation.date))).shown.size)
        simulation.dateOffset += 2 * DAY
        app.client.register(phone)
        assertEquals(DiagnosticCode.UNOPENABLE, push(server.send(first.seal("\"too late\"", simulation.date))).code)
    }

    private companion object {
        const val DAY = 86_400_000L
    }
}
