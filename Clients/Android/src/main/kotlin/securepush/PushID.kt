package securepush

/**
 * The ID of a notification, as it is in a push and in the path of a fetch.
 *
 * It is opaque. The grammar only makes it harmless in a path, in a log and in a file: 1 to 64 of `A-Z a-z 0-9 - _`.
 */
class PushID private constructor(
    /** The text. */
    val rawValue: String
) {
    override fun equals(other: Any?): Boolean = other is PushID && other.rawValue == rawValue

    override fun hashCode(): Int = rawValue.hashCode()

    override fun toString(): String = rawValue

    companion object {
        /** The longest ID, in characters. */
        const val MAX_LENGTH = 64

        /** Takes an ID; `null` for a text that breaks the grammar. */
        @JvmStatic
        fun of(text: String?): PushID? {
            if (text == null || text.length !in 1..MAX_LENGTH || !text.all(::isAllowed)) return null
            return PushID(text)
        }

        private fun isAllowed(letter: Char): Boolean =
            letter in 'a'..'z' || letter in 'A'..'Z' || letter in '0'..'9' || letter == '-' || letter == '_'
    }
}
