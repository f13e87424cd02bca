package securepush.vectors

import android.security.keystore.StandInProvider
import android.security.keystore.StandInX25519
import java.util.Base64
import org.json.JSONObject
import org.junit.Test
import securepush.Base64Url
import securepush.ClientLimits
import securepush.DiagnosticCode
import securepush.Envelope
import securepush.EnvelopePrivateKey
import securepush.IncomingPush
import securepush.PushID
import securepush.PushKeySet
import securepush.PushVerifier
import securepush.SecretNotification
import securepush.SoftwareEnvelopeKey
import securepush.UserTag
import securepush.android.KeystoreEnvelopeVault

/** The vectors without a clock. */
class VectorTests {
    @Test
    fun pushesAreRead() {
        readPushes("pushes.json", "cases")
        readPushes("hostile.json", "pushes")
    }

    private fun readPushes(file: String, list: String) {
        val complaints = ArrayList<String>()
        val cases = VectorFolder.cases(file, list)
        val ours = cases.filter { it.getString("form") in setOf("data", "text", "bytes") }
        for (vector in ours) {
            val push = when (vector.getString("form")) {
                "data" -> IncomingPush.of(vector.getJSONObject("push").texts())
                "text" -> IncomingPush.ofWebPush(vector.getString("push").toByteArray())
                else -> IncomingPush.ofWebPush(Base64.getDecoder().decode(vector.getString("push")))
            }
            val expected = vector.getJSONObject("expect")
            val isRight = if (expected.getBoolean("accepted")) {
                push.isOurs && push.id?.rawValue == expected.getString("id") &&
                    push.timestamp == expected.text("timestamp") && push.signature == expected.text("signature") &&
                    push.isWithdrawal == expected.getBoolean("withdraw")
            } else {
                push.id == null && expected.getString("reason") == (if (push.isOurs) "SP-PUSH" else "foreign")
            }
            if (!isRight) complaints.add("${vector.getString("name")}: $push")
        }
        VectorFolder.report("$file $list", cases.size, cases.size - ours.size, 39, complaints)
    }

    @Test
    fun signaturesAreVerified() {
        val complaints = ArrayList<String>()
        val cases = VectorFolder.cases("signatures.json")
        for (vector in cases) {
            val reason = fault(vector)?.rawValue
            val expected = vector.getJSONObject("expect").optString("reason", null)
            if (reason != expected) complaints.add("${vector.getString("name")}: $reason, not $expected")
        }
        VectorFolder.report("signatures.json", cases.size, 0, 50, complaints)
    }

    /** As the client does it: by the keys that it has learned, if they can be used, and else by the configured ones. */
    private fun fault(vector: JSONObject): DiagnosticCode? {
        val keys = keys(vector, "learnedKeys") ?: keys(vector, "keys") ?: return DiagnosticCode.BAD_SIGNATURE
        val members = vector.getJSONObject("push")
        val push = IncomingPush(
            true, PushID.of(members.getString("id")), members.getBoolean("withdraw"), members.text("timestamp"),
            members.text("signature")
        )
        val verifier = PushVerifier(keys, ClientLimits().maxPushAge)
        return verifier.fault(push, vector.getString("user"), vector.getLong("nowMs"))
    }

    private fun keys(vector: JSONObject, name: String): PushKeySet? = try {
        vector.child(name)?.let { PushKeySet.fromJwkSet(it.toString().toByteArray()) }
    } catch (e: PushKeySet.Malformed) {
        null
    }

    @Test
    fun usersHaveTheirTags() {
        val complaints = ArrayList<String>()
        val cases = VectorFolder.cases("tags.json")
        for (vector in cases) {
            val tag = UserTag.of(vector.getString("user"))
            if (tag != vector.getJSONObject("expect").text("tag")) complaints.add("${vector.getString("name")}: $tag")
        }
        VectorFolder.report("tags.json", cases.size, 0, 30, complaints)
    }

    @Test
    fun envelopesAreOpened() = openEnvelopes("e2e.json") { SoftwareEnvelopeKey.of(it) }

    /** The same with the stand-in for the Android Keystore. */
    @Test
    fun envelopesAreOpenedByTheKeystore() {
        StandInProvider.install()
        openEnvelopes("e2e.json by the Keystore") { bytes ->
            StandInX25519.put("vector", bytes)
            val publicBytes = checkNotNull(SoftwareEnvelopeKey.of(bytes)).publicBytes
            KeystoreEnvelopeVault("vector").find(publicBytes)
        }
    }

    private fun openEnvelopes(name: String, key: (ByteArray) -> EnvelopePrivateKey?) {
        val complaints = ArrayList<String>()
        val cases = VectorFolder.cases("e2e.json")
        for (vector in cases) {
            val expected = vector.getJSONObject("expect")
            val payload = vector.getString("payload")
            val privateKey = vector.child("privateKey")
                ?.let { checkNotNull(key(checkNotNull(Base64Url.decode(it.getString("d"))))) }
            val sealed = SecretNotification(checkNotNull(PushID.of("01")), payload, payload)
            val seen = try {
                val opened =
                    Envelope.open(sealed, vector.getString("recipient"), vector.getString("device"), privateKey)
                val isEncrypted = expected.getBoolean("encrypted")
                val isRight = isEncrypted == (opened !== sealed) &&
                    (!isEncrypted || opened.json == expected.getString("content")) &&
                    (!isEncrypted || opened.text == expected.getString("text"))
                if (isRight) "opened" else "opened to something else"
            } catch (e: Envelope.Unopened) {
                e.code.rawValue
            }
            val should = if (expected.getBoolean("opened")) "opened" else expected.getString("reason")
            if (seen != should) complaints.add("${vector.getString("name")}: $seen, not $should")
        }
        VectorFolder.report(name, cases.size, 0, 60, complaints)
    }
}
