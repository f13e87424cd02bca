package securepush

import java.nio.ByteBuffer
import java.nio.CharBuffer

/** A part of a text, by the positions of its bytes. */
internal data class Span(val start: Int, val end: Int)

/**
 * Reads JSON (RFC 8259) in place: it finds the members of an object without building a tree.
 *
 * The platform's `org.json` does not fit what comes from outside: it takes texts that are no JSON, changes large
 * numbers (the payload's text must stay exactly as the sender wrote it), keeps one of several members with the same
 * name, and overflows the stack on deep nesting. The SDK writes JSON with it.
 */
internal class JsonReader private constructor(private val bytes: ByteArray) {
    /** Whether a value is checked by the strict rules now. */
    private var isStrict = false
    /** The text is not JSON, or not in the expected form. */
    class Malformed : Exception("This is not the expected JSON.")

    /** The members of an object. Repeated names are malformed. */
    fun members(span: Span): Map<String, Span> {
        val members = LinkedHashMap<String, Span>()
        forEachMember(span) { name, value -> if (members.put(name, value) != null) throw Malformed() }
        return members
    }

    /** The names of the members of an object, also of one with repeated names. */
    fun names(span: Span): Set<String> {
        val names = LinkedHashSet<String>()
        forEachMember(span) { name, _ -> names.add(name) }
        return names
    }

    private fun forEachMember(span: Span, body: (String, Span) -> Unit) {
        if (byte(span.start) != '{'.asByte) throw Malformed()
        forEach(span) { position ->
            val nameEnd = skipString(position)
            val start = skipBlanks(skipBlanks(nameEnd) + 1)
            val end = skipValue(start, 1)
            body(string(Span(position, nameEnd)), Span(start, end))
            end
        }
    }

    /** The elements of an array. */
    fun elements(span: Span, limit: Int): List<Span> {
        if (byte(span.start) != '['.asByte) throw Malformed()
        val elements = ArrayList<Span>()
        forEach(span) { position ->
            val end = skipValue(position, 1)
            if (elements.size >= limit) throw Malformed()
            elements.add(Span(position, end))
            end
        }
        return elements
    }

    /** The text of a value. */
    fun json(span: Span): String = String(bytes, span.start, span.end - span.start, Charsets.UTF_8)

    fun boolean(span: Span): Boolean = when (if (span.end - span.start <= 5) json(span) else "") {
        "true" -> true
        "false" -> false
        else -> throw Malformed()
    }

    /** A number from 0 to a million. */
    fun count(span: Span): Int {
        val number = if (span.end - span.start <= 7) json(span).toIntOrNull() else null
        return number?.takeIf { it in 0..1_000_000 } ?: throw Malformed()
    }

    /** A number of 1 to 12 digits. */
    fun digits(span: Span): Long {
        if (span.end - span.start !in 1..12) throw Malformed()
        val text = json(span)
        return if (text.all { it in '0'..'9' }) text.toLong() else throw Malformed()
    }

    /** A whole number, or one with a fraction that is cut off. */
    fun long(span: Span): Long {
        val number = if (span.end - span.start <= 32) json(span).toDoubleOrNull() else null
        if (number == null || number.isNaN() || Math.abs(number) > MAX_EXACT) throw Malformed()
        return number.toLong()
    }

    fun isString(span: Span): Boolean = byte(span.start) == '"'.asByte

    fun isNull(span: Span): Boolean = byte(span.start) == 'n'.asByte

    fun isObject(span: Span): Boolean = byte(span.start) == '{'.asByte

    /** The value of a string. */
    fun string(span: Span): String {
        if (!isString(span) || span.end - span.start < 2) throw Malformed()
        val inner = Span(span.start + 1, span.end - 1)
        return if (hasEscapes(inner)) unescape(json(inner)) else json(inner)
    }

    private fun hasEscapes(span: Span): Boolean {
        for (position in span.start until span.end) if (bytes[position] == '\\'.asByte) return true
        return false
    }

    /** Calls the function with the start of each member or element; it returns the end. */
    private fun forEach(span: Span, body: (Int) -> Int) {
        var position = skipBlanks(span.start + 1)
        while (position < span.end - 1) {
            position = skipBlanks(body(position))
            if (byte(position) == ','.asByte) position = skipBlanks(position + 1)
        }
    }

    private fun byte(position: Int): Byte? = if (position < bytes.size) bytes[position] else null

    private fun skipBlanks(start: Int): Int {
        var position = start
        while (position < bytes.size && BLANKS.indexOf(bytes[position]) >= 0) position += 1
        return position
    }

    /** Checks a value, and returns its end. */
    private fun skipValue(start: Int, depth: Int): Int = when (byte(start)) {
        '"'.asByte -> skipString(start)
        '{'.asByte -> skipContainer(start, '}'.asByte, depth)
        '['.asByte -> skipContainer(start, ']'.asByte, depth)
        't'.asByte -> skipWord("true", start)
        'f'.asByte -> skipWord("false", start)
        'n'.asByte -> skipWord("null", start)
        else -> skipNumber(start)
    }

    private fun skipContainer(start: Int, end: Byte, depth: Int): Int {
        if (depth >= if (isStrict) MAX_STRICT_DEPTH else MAX_DEPTH) throw Malformed()
        var position = skipBlanks(start + 1)
        if (byte(position) == end) return position + 1
        val names = if (isStrict && end == '}'.asByte) HashSet<String>() else null
        while (true) {
            if (end == '}'.asByte) {
                val nameEnd = skipString(position)
                if (names != null && !names.add(string(Span(position, nameEnd)))) throw Malformed()
                position = skipBlanks(nameEnd)
                if (byte(position) != ':'.asByte) throw Malformed()
                position = skipBlanks(position + 1)
            }
            position = skipBlanks(skipValue(position, depth + 1))
            val next = byte(position) ?: throw Malformed()
            if (next == end) return position + 1
            if (next != ','.asByte) throw Malformed()
            position = skipBlanks(position + 1)
        }
    }

    private fun skipString(start: Int): Int {
        if (byte(start) != '"'.asByte) throw Malformed()
        var position = start + 1
        while (position < bytes.size) {
            val value = bytes[position].toInt()
            when {
                value == 0x22 -> return position + 1
                value == 0x5C -> position = skipEscape(position)
                value in 0 until 0x20 -> throw Malformed()
                else -> position += 1
            }
        }
        throw Malformed()
    }

    private fun skipEscape(start: Int): Int {
        val letter = byte(start + 1) ?: throw Malformed()
        if (letter != 'u'.asByte) {
            if (ESCAPED.indexOf(letter) < 0) throw Malformed()
            return start + 2
        }
        for (position in start + 2 until start + 6) {
            val digit = byte(position)?.toInt() ?: throw Malformed()
            if (digit !in 0x30..0x39 && digit !in 0x41..0x46 && digit !in 0x61..0x66) throw Malformed()
        }
        if (!isStrict) return start + 6
        val code = code(start)
        if (code in 0xDC00..0xDFFF) throw Malformed()
        if (code !in 0xD800..0xDBFF) return start + 6
        // The other half of the pair follows.
        val hasOther = byte(start + 6) == '\\'.asByte && byte(start + 7) == 'u'.asByte
        isStrict = false
        val end = if (hasOther) skipEscape(start + 6) else throw Malformed()
        isStrict = true
        return if (code(start + 6) in 0xDC00..0xDFFF) end else throw Malformed()
    }

    /** The value of an escape that was checked. */
    private fun code(start: Int): Int {
        var code = 0
        for (position in start + 2 until start + 6) code = code * 16 + Character.digit(bytes[position].toInt(), 16)
        return code
    }

    private fun skipWord(word: String, start: Int): Int {
        for ((index, letter) in word.withIndex()) if (byte(start + index) != letter.asByte) throw Malformed()
        return start + word.length
    }

    private fun skipNumber(start: Int): Int {
        var position = if (byte(start) == '-'.asByte) start + 1 else start
        position = if (byte(position) == '0'.asByte) position + 1 else skipDigits(position)
        if (byte(position) == '.'.asByte) position = skipDigits(position + 1)
        if (byte(position) == 'e'.asByte || byte(position) == 'E'.asByte) {
            position += 1
            if (byte(position) == '+'.asByte || byte(position) == '-'.asByte) position += 1
            position = skipDigits(position)
        }
        return position
    }

    private fun skipDigits(start: Int): Int {
        var position = start
        while (position < bytes.size && bytes[position] in '0'.asByte..'9'.asByte) position += 1
        if (position == start) throw Malformed()
        return position
    }

    companion object {
        /**
         * Reads the value that a text consists of.
         *
         * @param strict whether it must be UTF-8, without repeated names, without half surrogate pairs, and at most 32
         *   deep: the rule for everything that is encrypted or has keys.
         * @throws Malformed if it is no JSON, and what the function throws.
         */
        fun <R> read(bytes: ByteArray, strict: Boolean = false, body: (JsonReader, Span) -> R): R {
            if (strict && !isUtf8(bytes)) throw Malformed()
            val reader = JsonReader(bytes)
            val start = reader.skipBlanks(0)
            reader.isStrict = strict
            val end = reader.skipValue(start, 0)
            reader.isStrict = false
            if (reader.skipBlanks(end) != bytes.size) throw Malformed()
            return body(reader, Span(start, end))
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

        /** Replaces the escapes of a checked text. Half a surrogate pair becomes U+FFFD. */
        private fun unescape(text: String): String {
            val result = StringBuilder(text.length)
            var position = 0
            while (position < text.length) {
                val letter = text[position]
                if (letter != '\\') {
                    result.append(letter)
                    position += 1
                } else if (text[position + 1] == 'u') {
                    var code = 0
                    for (digit in position + 2 until position + 6) code = code * 16 + Character.digit(text[digit], 16)
                    result.append(code.asChar)
                    position += 6
                } else {
                    result.append(VALUES[ESCAPED.indexOf(text[position + 1].asByte)])
                    position += 2
                }
            }
            return wellFormed(result)
        }

        private fun wellFormed(text: StringBuilder): String {
            var position = 0
            while (position < text.length) {
                val isPair = text[position].isHighSurrogate() && position + 1 < text.length &&
                    text[position + 1].isLowSurrogate()
                if (!isPair && text[position].isSurrogate()) text.setCharAt(position, '\uFFFD')
                position += if (isPair) 2 else 1
            }
            return text.toString()
        }

        private val ESCAPED = "\"\\/bfnrt".toByteArray()
        private const val VALUES = "\"\\/\b\u000C\n\r\t"
        private val BLANKS = " \n\r\t".toByteArray()
        /** The server's payloads are at most 128 deep; the answer adds three levels. */
        private const val MAX_DEPTH = 160
        private const val MAX_STRICT_DEPTH = 32
        /** Larger numbers are no exact whole numbers as `Double`. */
        private const val MAX_EXACT = 9_007_199_254_740_992.0
    }
}

/** The byte of an ASCII character. Java's cast, because Kotlin has renamed its own conversions. */
private val Char.asByte: Byte get() = (this - '\u0000').toByte()

private val Int.asChar: Char get() = '\u0000' + this
