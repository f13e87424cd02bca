package securepush

import java.nio.ByteBuffer
import java.nio.CharBuffer

/**
 * A value in a JSON text (RFC 8259), read in place: no tree is built, so the text of a payload stays as it came.
 *
 * The platform's `org.json` does not fit what comes from outside: it takes texts that are no JSON, changes large
 * numbers (the payload's text must stay exactly as the sender wrote it), keeps one of several members with the same
 * name, and overflows the stack on deep nesting. The SDK writes JSON with it.
 */
internal class JsonValue(private val bytes: ByteArray, private val start: Int, private val end: Int) {
    /** The text is not JSON, or not in the expected form. */
    class Malformed : Exception("This is not the expected JSON.")

    private val first: Char get() = '\u0000' + bytes[start].toInt()

    val isString: Boolean get() = first == '"'

    val isNull: Boolean get() = first == 'n'

    val isObject: Boolean get() = first == '{'

    /** The members of an object. Repeated names are malformed. */
    fun members(): Map<String, JsonValue> {
        if (!isObject) throw Malformed()
        val members = LinkedHashMap<String, JsonValue>()
        JsonScanner(bytes).skipContainer(start, 0) { name, value ->
            if (members.put(name.text(), value) != null) throw Malformed()
        }
        return members
    }

    /** The elements of an array. */
    fun elements(limit: Int): List<JsonValue> {
        if (first != '[') throw Malformed()
        val elements = ArrayList<JsonValue>()
        JsonScanner(bytes).skipContainer(start, 0) { _, value ->
            if (elements.size >= limit) throw Malformed()
            elements.add(value)
        }
        return elements
    }

    /** The text of the value. */
    fun json(): String = String(bytes, start, end - start, Charsets.UTF_8)

    /** The value of a string. */
    fun text(): String {
        if (!isString) throw Malformed()
        val inner = String(bytes, start + 1, end - start - 2, Charsets.UTF_8)
        return if ('\\' in inner) unescape(inner) else inner
    }

    /** The value of a string; `null` for another value. */
    fun textOrNull(): String? = if (isString) text() else null

    fun boolean(): Boolean = when (first) {
        't' -> true
        'f' -> false
        else -> throw Malformed()
    }

    /** A number from 0 to a million. */
    fun count(): Int {
        val number = if (end - start <= 7) json().toIntOrNull() else null
        return number?.takeIf { it in 0..1_000_000 } ?: throw Malformed()
    }

    /** A number of 1 to 12 digits. */
    fun digits(): Long {
        val text = if (end - start <= 12) json() else ""
        return if (text != "" && text.all { it in '0'..'9' }) text.toLong() else throw Malformed()
    }

    /** A whole number, or one with a fraction that is cut off. */
    fun long(): Long {
        val number = if (end - start <= 32) json().toDoubleOrNull() else null
        if (number == null || Math.abs(number) > MAX_EXACT) throw Malformed()
        return number.toLong()
    }

    companion object {
        /**
         * Reads the value that a text consists of.
         *
         * @param strict whether no object may repeat a name, and whether it may be at most 32 deep: the rule for
         *   everything that is encrypted or has keys.
         * @throws Malformed if it is no JSON in UTF-8, or has half a surrogate pair.
         */
        fun parse(bytes: ByteArray, strict: Boolean = false): JsonValue {
            if (!isUtf8(bytes)) throw Malformed()
            val scanner = JsonScanner(bytes, if (strict) MAX_STRICT_DEPTH else MAX_DEPTH, checksNames = strict)
            val start = scanner.skipBlanks(0)
            val end = scanner.skipValue(start, 0)
            if (scanner.skipBlanks(end) != bytes.size) throw Malformed()
            return JsonValue(bytes, start, end)
        }

        private fun isUtf8(bytes: ByteArray): Boolean {
            val decoder = Charsets.UTF_8.newDecoder()
            val (input, output) = Pair(ByteBuffer.wrap(bytes), CharBuffer.allocate(1_024))
            while (true) {
                val result = decoder.decode(input, output, true)
                if (!result.isOverflow) return !result.isError
                output.clear()
            }
        }

        /** Replaces the escapes of a text that was checked. */
        private fun unescape(text: String): String {
            val result = StringBuilder(text.length)
            var position = 0
            while (position < text.length) {
                val escape = if (text[position] == '\\') text[position + 1] else null
                when (escape) {
                    null -> result.append(text[position])
                    'u' -> {
                        var unit = 0
                        for (digit in 2..5) unit = unit * 16 + Character.digit(text[position + digit], 16)
                        result.append(unit.toChar())
                    }
                    else -> result.append(VALUES[ESCAPED.indexOf(escape)])
                }
                position += if (escape == null) 1 else if (escape == 'u') 6 else 2
            }
            return result.toString()
        }

        private const val ESCAPED = "\"\\/bfnrt"
        private const val VALUES = "\"\\/\b\u000C\n\r\t"
        /** The server's payloads are at most 128 deep; the answer adds three levels. */
        private const val MAX_DEPTH = 160
        private const val MAX_STRICT_DEPTH = 32
        /** Larger numbers are no exact whole numbers as `Double`. */
        private const val MAX_EXACT = 9_007_199_254_740_992.0
    }
}

/** A member that must be there. */
internal fun Map<String, JsonValue>.required(name: String): JsonValue = this[name] ?: throw JsonValue.Malformed()

/** A truth value; `false` if there is no such member. */
internal fun Map<String, JsonValue>.flag(name: String): Boolean = this[name]?.boolean() ?: false
