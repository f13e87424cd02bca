package securepush.units

import org.junit.Assert.assertEquals
import org.junit.Assert.assertTrue
import org.junit.Test
import securepush.JsonReader
import securepush.PushID
import securepush.SecretAnswer

class JsonReaderTests {
    private fun isJson(text: String): Boolean = try {
        JsonReader.read(text.toByteArray()) { _, _ -> true }
    } catch (e: JsonReader.Malformed) {
        false
    }

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
            "[".repeat(161) + "]".repeat(161), "[".repeat(100_000), "\u0000"
        )
        for (text in bad) assertTrue(text.take(40), !isJson(text))
    }

    @Test
    fun payloadsStayAsTheyAre() {
        val payloads = listOf(
            "12345678901234567890.1234567890", "{\"b\":1,  \"a\":[1e400]}", "\"\\ud83d\\ude00 \\ud83d \\/\"", "null"
        )
        val texts = listOf(payloads[0], payloads[1], "\uD83D\uDE00 \uFFFD /", "null")
        for ((payload, text) in payloads.zip(texts)) {
            val body = "{\"Id\":\"a\",\"Payload\":$payload,\"Read\":true,\"Unread\":3}".toByteArray()
            val answer = SecretAnswer.read(body, checkNotNull(PushID.of("a")))
            assertEquals(payload, answer.secret.json)
            assertEquals(text, answer.secret.text)
            assertEquals(3, answer.unread)
        }
    }
}
