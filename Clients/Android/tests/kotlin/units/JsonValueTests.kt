package securepush.units

import org.junit.Assert.assertEquals
import org.junit.Assert.assertTrue
import org.junit.Test
import securepush.JsonValue
import securepush.PushID
import securepush.SecretAnswer

class JsonValueTests {
    private fun isJson(bytes: ByteArray, strict: Boolean = false): Boolean = try {
        JsonValue.parse(bytes, strict)
        true
    } catch (e: JsonValue.Malformed) {
        false
    }

    private fun isJson(text: String): Boolean = isJson(text.toByteArray())

    @Test
    fun onlyJsonIsRead() {
        val good = listOf(
            "0", "-0.5e+7", "null", " [1, 2 ,[]] ", "{\"a\":{\"b\":[true,false]}}", "\"\\u00e9\\n\"",
            "1e400",
            "[".repeat(160) + "]".repeat(160)
        )
        for (text in good) assertTrue(text, isJson(text))
        val bad = listOf(
            "", "01", "+1", ".5", "1.", "1e", "tru", "nul", "{a:1}", "{'a':1}", "[1,]", "{\"a\":1,}", "[1 2]",
            "// x\n1", "\"a", "\"\n\"", "\"\\x\"", "\"\\u12g4\"", "1 1", "NaN", "Infinity", "{\"a\"}",
            "[".repeat(161) + "]".repeat(161), "[".repeat(100_000), "\u0000", "\"\\ud83d\"", "\"\\ud83d\\u0041\"",
            "\"\\ude00\"", "\"\\ud83dx\\ude00\"", "\"\\ud83d\\ud83d\\ude00\"", "\uFEFF1"
        )
        for (text in bad) assertTrue(text.take(40), !isJson(text))
    }

    /** The rule for everything that is encrypted or has keys. */
    @Test
    fun strictJsonHasOneMeaning() {
        val good = listOf(
            "{\"a\":{\"a\":1},\"b\":[{\"a\":1},{\"a\":2}]}", "\"\\ud83d\\ude00\"", "\"\u00e9\uD83D\uDE00\"",
            "[".repeat(32) + "]".repeat(32), "\"${"\u20ac".repeat(5_000)}\""
        )
        for (text in good) assertTrue(text.take(40), isJson(text.toByteArray(), strict = true))
        val bad = listOf(
            "{\"a\":1,\"a\":2}", "[{\"b\":{\"a\":1,\"\\u0061\":2}}]",
            "[".repeat(33) + "]".repeat(33)
        )
        for (text in bad) assertTrue(text.take(40), !isJson(text.toByteArray(), strict = true))
    }

    @Test
    fun otherBytesThanUtf8AreRefused() {
        for (byte in listOf(0x80, 0xC0, 0xED, 0xFF)) {
            assertTrue("$byte", !isJson(byteArrayOf(0x22, byte.toByte(), 0x22)))
            assertTrue("late", !isJson("\"${"x".repeat(5_000)}".toByteArray() + byteArrayOf(byte.toByte(), 0x22)))
        }
    }

    @Test
    fun payloadsStayAsTheyAre() {
        val payloads = listOf(
            "12345678901234567890.1234567890", "{\"b\":1,  \"a\":[1e400]}", "\"\\ud83d\\ude00 \\u0041\\n\\/\"", "null"
        )
        val texts = listOf(null, null, "\uD83D\uDE00 A\n/", null)
        for ((payload, text) in payloads.zip(texts)) {
            val body = "{\"Id\":\"a\",\"Payload\":$payload,\"Read\":true,\"Unread\":3}".toByteArray()
            val answer = SecretAnswer.read(body, checkNotNull(PushID.of("a")))
            assertEquals(payload, answer.secret.json)
            assertEquals(text, answer.secret.text)
            assertEquals(3, answer.unread)
        }
    }
}
