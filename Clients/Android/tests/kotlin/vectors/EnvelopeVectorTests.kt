package securepush.vectors

import android.security.keystore.StandInP256
import android.security.keystore.StandInProvider
import java.net.URI
import java.util.UUID
import org.json.JSONObject
import org.junit.Test
import securepush.Base64Url
import securepush.ClientClock
import securepush.ClientCredentials
import securepush.ClientStore
import securepush.Envelope
import securepush.EnvelopePrivateKey
import securepush.FixedCredentialsProvider
import securepush.HttpTransport
import securepush.MalformedKeySet
import securepush.MemoryClientStore
import securepush.Message
import securepush.P256KeyPair
import securepush.PushID
import securepush.RegistrationRecord
import securepush.SecretNotification
import securepush.SecurePushClient
import securepush.SecurePushConfiguration
import securepush.SecurePushFailure
import securepush.SenderKeySet
import securepush.SoftwareEnvelopeKey
import securepush.android.KeystoreEnvelopeVault
import securepush.open

/** The payloads of the vectors, opened by the client. */
class EnvelopeVectorTests {
    @Test
    fun envelopesAreOpened() = run("e2e.json") { _, pair -> SoftwareEnvelopeKey(pair) }

    /** The same with the stand-in for the Android Keystore. */
    @Test
    fun envelopesAreOpenedByTheKeystore() {
        StandInProvider.install()
        run("e2e.json by the Keystore") { number, pair ->
            StandInP256.KEYS["vector.$number"] = pair.privateKey
            checkNotNull(KeystoreEnvelopeVault("vector").find(number, pair.publicPoint))
        }
    }

    /** A store with other keys. */
    private class Store(val memory: MemoryClientStore, val keys: List<EnvelopePrivateKey>) : ClientStore by memory {
        override fun envelopeKeys() = keys
    }

    private class Clock(override val date: Long) : ClientClock {
        override val uptime = 0L
        override fun sleep(millis: Long) = Unit
    }

    private fun run(name: String, key: (Int, P256KeyPair) -> EnvelopePrivateKey) {
        val complaints = ArrayList<String>()
        val cases = VectorFolder.cases("e2e.json")
        for (vector in cases) {
            val expected = vector.getJSONObject("expect")
            val sealed = SecretNotification(id(vector.getString("notification")), vector.getString("payload"))
            val seen = try {
                val opened = client(vector, key).open(sealed)
                if (isRight(opened, opened !== sealed, expected)) "opened" else "opened to something else"
            } catch (e: SecurePushFailure) {
                e.code.rawValue
            }
            val should = if (expected.getBoolean("opened")) "opened" else expected.getString("reason")
            if (seen != should) complaints.add("${vector.getString("name")}: $seen, not $should")
        }
        VectorFolder.report(name, cases.size, 0, 250, complaints)
    }

    private fun id(text: String) = checkNotNull(PushID.of(text))

    private fun client(vector: JSONObject, key: (Int, P256KeyPair) -> EnvelopePrivateKey): SecurePushClient {
        val memory = MemoryClientStore()
        memory.update { state ->
            state.owner = vector.getString("recipient")
            state.registration = RegistrationRecord(vector.getString("device"))
        }
        for (opened in vector.getJSONArray("opened").objects()) {
            val notification = id(opened.getString("notification"))
            memory.rememberEnvelope(UUID.fromString(opened.getString("id")), notification, vector.getLong("nowMs"))
        }
        val keys = vector.getJSONArray("privateKeys").objects().mapIndexed { number, jwk ->
            fun bytes(name: String) = checkNotNull(Base64Url.decode(jwk.getString(name)))
            key(number, checkNotNull(P256KeyPair.of(bytes("d") + byteArrayOf(4) + bytes("x") + bytes("y"))))
        }
        val senders = if (vector.isNull("senderKeys")) null else senders(vector.get("senderKeys").toString())
        val configuration = SecurePushConfiguration(
            URI("https://push.example.com"), senderKeys = senders,
            requiresEncryption = vector.getBoolean("requiresEncryption")
        )
        return SecurePushClient(
            configuration, FixedCredentialsProvider("alice", ClientCredentials.bearer("token")), Store(memory, keys),
            HttpTransport(), ScenarioScreen(), Clock(vector.getLong("nowMs"))
        )
    }

    /** A set that cannot be used has no key. */
    private fun senders(text: String): SenderKeySet = try {
        SenderKeySet.fromJwkSet(text.toByteArray())
    } catch (e: MalformedKeySet) {
        SenderKeySet(emptyList())
    }

    private fun isRight(secret: SecretNotification, isEncrypted: Boolean, expected: JSONObject): Boolean {
        val message = secret.message?.takeIf { secret.json.trim().startsWith("{") }
        return isEncrypted == expected.getBoolean("encrypted") && secret.json.trim() == expected.getString("content") &&
            secret.text == expected.text("text") && isMessage(message, expected.child("message"))
    }

    private fun isMessage(message: Message?, expected: JSONObject?): Boolean {
        if (message == null || expected == null) return message == null && expected == null
        val actions = if (expected.isNull("Actions")) emptyList() else expected.getJSONArray("Actions").objects()
        return message.title == expected.text("Title") && message.body == expected.text("Body") &&
            message.link == expected.text("Link") && message.category == expected.text("Category") &&
            message.thread == expected.text("Thread") &&
            message.level.rawValue == (expected.text("Level") ?: "active") &&
            message.actions == actions.map {
                Message.Action(it.getString("Id"), it.getString("Title"), it.getBoolean("Input"))
            }
    }
}
