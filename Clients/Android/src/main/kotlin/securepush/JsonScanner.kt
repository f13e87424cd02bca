package securepush

/** Walks JSON text (RFC 8259) in UTF-8 and checks it. It returns ends of values, and no tree. */
internal class JsonScanner(
    private val bytes: ByteArray,
    /** How deep arrays and objects may nest. The default is for a text that was checked. */
    private val maxDepth: Int = Int.MAX_VALUE,
    /** Whether an object may not repeat a name. */
    private val checksNames: Boolean = false
) {
    private fun has(letter: Char, position: Int): Boolean =
        position < bytes.size && bytes[position] == letter.asByte

    fun skipBlanks(start: Int): Int {
        var position = start
        while (position < bytes.size && BLANKS.indexOf(bytes[position]) >= 0) position += 1
        return position
    }

    /**
     * The end of a value.
     *
     * @param depth the number of arrays and objects around it.
     */
    fun skipValue(start: Int, depth: Int): Int = when {
        has('"', start) -> skipString(start)
        has('{', start) && checksNames -> {
            val names = HashSet<String>()
            skipContainer(start, depth) { name, _ -> if (!names.add(name.text())) throw JsonValue.Malformed() }
        }
        has('{', start) || has('[', start) -> skipContainer(start, depth)
        has('t', start) -> skipWord("true", start)
        has('f', start) -> skipWord("false", start)
        has('n', start) -> skipWord("null", start)
        else -> skipNumber(start)
    }

    /**
     * The end of an object or array.
     *
     * @param visit gets the name and the value of each member, or nothing and each element.
     */
    fun skipContainer(start: Int, depth: Int, visit: ((JsonValue, JsonValue) -> Unit)? = null): Int {
        if (depth >= maxDepth) throw JsonValue.Malformed()
        val isObject = has('{', start)
        val end = if (isObject) '}' else ']'
        var position = skipBlanks(start + 1)
        if (has(end, position)) return position + 1
        while (true) {
            val name = position
            val nameEnd = if (isObject) skipString(name) else name
            if (isObject) position = skipBlanks(skip(':', skipBlanks(nameEnd)))
            val valueEnd = skipValue(position, depth + 1)
            visit?.invoke(JsonValue(bytes, name, nameEnd), JsonValue(bytes, position, valueEnd))
            position = skipBlanks(valueEnd)
            if (has(end, position)) return position + 1
            position = skipBlanks(skip(',', position))
        }
    }

    private fun skip(letter: Char, position: Int): Int =
        if (has(letter, position)) position + 1 else throw JsonValue.Malformed()

    private fun skipString(start: Int): Int {
        var position = skip('"', start)
        while (position < bytes.size) {
            val value = bytes[position].toInt()
            when {
                value == 0x22 -> return position + 1
                value == 0x5C -> position = skipEscape(position)
                value in 0 until 0x20 -> throw JsonValue.Malformed()
                else -> position += 1
            }
        }
        throw JsonValue.Malformed()
    }

    /** Checks an escape, or two that are a surrogate pair. */
    private fun skipEscape(start: Int): Int {
        if (start + 1 < bytes.size && ESCAPED.indexOf(bytes[start + 1]) >= 0) return start + 2
        val unit = unit(start)
        if (!unit.isSurrogate()) return start + ESCAPE_LENGTH
        if (!Character.isSurrogatePair(unit, unit(start + ESCAPE_LENGTH))) throw JsonValue.Malformed()
        return start + 2 * ESCAPE_LENGTH
    }

    /** The value of an escape of the form `\u0000`. */
    private fun unit(start: Int): Char {
        val digits = skip('u', skip('\\', start))
        var code = 0
        for (position in digits until digits + 4) {
            val digit = if (position < bytes.size) Character.digit(bytes[position].toInt(), 16) else -1
            if (digit < 0) throw JsonValue.Malformed()
            code = code * 16 + digit
        }
        return '\u0000' + code
    }

    private fun skipWord(word: String, start: Int): Int =
        word.fold(start) { position, letter -> skip(letter, position) }

    private fun skipNumber(start: Int): Int {
        var position = if (has('-', start)) start + 1 else start
        position = if (has('0', position)) position + 1 else skipDigits(position)
        if (has('.', position)) position = skipDigits(position + 1)
        if (!has('e', position) && !has('E', position)) return position
        position += 1
        return skipDigits(if (has('+', position) || has('-', position)) position + 1 else position)
    }

    private fun skipDigits(start: Int): Int {
        var position = start
        while (position < bytes.size && bytes[position] in '0'.asByte..'9'.asByte) position += 1
        return if (position > start) position else throw JsonValue.Malformed()
    }

    private companion object {
        val ESCAPED = "\"\\/bfnrt".toByteArray()
        val BLANKS = " \n\r\t".toByteArray()
        const val ESCAPE_LENGTH = 6
    }
}

/** The byte of an ASCII character. Java's cast, because Kotlin has renamed its own conversions. */
private val Char.asByte: Byte get() = (this - '\u0000').toByte()
