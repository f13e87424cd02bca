package securepush

/** What a sender wrote for the user: a payload that is a text, or an object with a `Body`. */
class Message internal constructor(
    /** The text. */
    val body: String,
    /** The title. */
    val title: String? = null,
    /** Where the app can go for more. Nobody has checked it: the SDK never opens it. */
    val link: String? = null,
    /** The sender's word for the kind of message, such as `login`. */
    val category: String? = null,
    /** Messages with the same thread belong together. */
    val thread: String? = null,
    /** How urgent it is. */
    val level: Level = Level.ACTIVE,
    /** What the user can answer; at most three. */
    val actions: List<Action> = emptyList(),
    /** Any JSON text for the app. */
    val data: String? = null
) {
    /** How urgent a message is. */
    enum class Level(
        /** The name on the wire. */
        val rawValue: String
    ) {
        /** It makes no sound. */
        PASSIVE("passive"),
        /** The usual one. */
        ACTIVE("active"),
        /** It is for now. */
        TIME_SENSITIVE("time-sensitive")
    }

    /** An answer that the user can choose. */
    data class Action(
        /** 1 to 32 of `a-z 0-9 -`, for [SecurePushClient.answer]. */
        val id: String,
        /** The text of its button. */
        val title: String,
        /** Whether the user writes a text with it. */
        val takesText: Boolean
    )

    override fun toString(): String = "message"

    internal companion object {
        private const val MAX_ACTIONS = 3

        /** Reads a payload's JSON text; `null` if it is neither a text nor a message. */
        fun of(json: String): Message? = try {
            val payload = JsonValue.parse(json.toByteArray())
            if (payload.isString) Message(payload.text()) else read(payload.members())
        } catch (e: JsonValue.Malformed) {
            null
        }

        private fun read(members: Map<String, JsonValue>): Message {
            val level = members.text("Level", 14)
            val actions = members["Actions"]?.elements(MAX_ACTIONS)?.map { action(it.members()) } ?: emptyList()
            if (actions.distinctBy { it.id }.size != actions.size) throw JsonValue.Malformed()
            return Message(
                members.text("Body", 4_000) ?: throw JsonValue.Malformed(),
                members.text("Title", 200), members.text("Link", 2_000),
                members.text("Category", 64), members.text("Thread", 64),
                if (level == null) Level.ACTIVE else
                    Level.values().find { it.rawValue == level } ?: throw JsonValue.Malformed(),
                actions, members["Data"]?.json()
            )
        }

        private fun action(members: Map<String, JsonValue>): Action {
            val id = members.text("Id", 32) ?: ""
            val title = members.text("Title", 64) ?: ""
            if (!isActionID(id) || title == "") throw JsonValue.Malformed()
            return Action(id, title, members.flag("Input"))
        }

        fun isActionID(text: String): Boolean =
            text.length in 1..32 && text.all { it in 'a'..'z' || it in '0'..'9' || it == '-' }

        /** @param most the longest text, in bytes. */
        private fun Map<String, JsonValue>.text(name: String, most: Int): String? {
            val text = this[name]?.text() ?: return null
            return if (text.toByteArray().size <= most) text else throw JsonValue.Malformed()
        }
    }
}
