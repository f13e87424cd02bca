package securepush.vectors

import java.util.Base64
import org.json.JSONObject
import org.junit.Test
import securepush.ClientLimits
import securepush.DiagnosticCode
import securepush.IncomingPush
import securepush.MalformedKeySet
import securepush.PushID
import securepush.PushKeySet
import securepush.PushVerifier
import securepush.UserTag

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
        if (vector.isNull(name)) null else PushKeySet.fromJwkSet(vector.get(name).toString().toByteArray())
    } catch (e: MalformedKeySet) {
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
}
