package securepush

import org.json.JSONArray
import org.json.JSONObject

/**
 * The device's keys for end-to-end encryption, newest first. A new one is made every 30 days, so that whoever gets a
 * key later cannot read everything that was ever sent. The former ones are kept for 90 days, because messages for them
 * may still come.
 */
internal class EnvelopeKeyRing(val entries: List<Entry> = emptyList()) {
    /** One key. All times are in milliseconds since 1970. */
    class Entry(
        /** Its number in the vault; 0 if it is not there. */
        val number: Int,
        val publicBytes: ByteArray,
        /** The key itself, if it is not in the vault. */
        val pair: P256KeyPair?,
        val madeAt: Long,
        /** When the next one was made; `null` for the newest. */
        val replacedAt: Long? = null
    ) {
        fun replaced(at: Long) = Entry(number, publicBytes, pair, madeAt, at)
    }

    /** Whether a new key is to be made. A clock that went back tells nothing of the age. */
    fun isDue(date: Long): Boolean = entries.firstOrNull()?.let { date - it.madeAt >= MILLIS_OF_USE } ?: true

    /** Without the keys whose time is over. */
    fun current(date: Long): EnvelopeKeyRing {
        val kept = entries.filter { it.replacedAt == null || date - it.replacedAt < MILLIS_AFTER_USE }
        return if (kept.size == entries.size) this else EnvelopeKeyRing(kept)
    }

    /** With a new key. */
    fun with(entry: Entry, date: Long): EnvelopeKeyRing {
        val former = current(date).entries.map { if (it.replacedAt == null) it.replaced(date) else it }
        return EnvelopeKeyRing((listOf(entry) + former).take(MAX_KEYS))
    }

    /** A number that no key has. */
    fun freeNumber(): Int = NUMBERS.first { number -> entries.none { it.number == number } }

    fun encode(): ByteArray = JSONArray(
        entries.map { entry ->
            JSONObject().put("number", entry.number).put("madeAt", entry.madeAt).put("replacedAt", entry.replacedAt)
                .put("key", Base64Url.encode(entry.pair?.encoded ?: entry.publicBytes))
        }
    ).toString().toByteArray()

    companion object {
        private const val MILLIS_OF_USE = 30 * 86_400_000L
        private const val MILLIS_AFTER_USE = 90 * 86_400_000L
        /** More than the four that come of these times, for clocks that jump. */
        private const val MAX_KEYS = 8
        /** The numbers that keys have in a vault. One more than keys. */
        val NUMBERS = 1..MAX_KEYS + 1

        /** A ring with a key in memory. */
        fun softwareEntry(date: Long): Entry {
            val pair = P256KeyPair.generate()
            return Entry(0, pair.publicPoint, pair, date)
        }

        /** Takes what [encode] returned; `null` if it is damaged. */
        fun decode(bytes: ByteArray): EnvelopeKeyRing? = try {
            EnvelopeKeyRing(JsonValue.parse(bytes, strict = true).elements(MAX_KEYS).map { entry(it.members()) })
        } catch (e: JsonValue.Malformed) {
            null
        }

        private fun entry(members: Map<String, JsonValue>): Entry {
            val number = members.required("number").count()
            val key = Base64Url.decode(members.required("key").text()) ?: throw JsonValue.Malformed()
            val pair = if (number == 0) P256KeyPair.of(key) ?: throw JsonValue.Malformed() else null
            val publicBytes = pair?.publicPoint ?: key
            if (P256.point(publicBytes) == null) throw JsonValue.Malformed()
            return Entry(
                number, publicBytes, pair, members.required("madeAt").long(), members["replacedAt"]?.long()
            )
        }
    }
}
