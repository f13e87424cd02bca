package securepush

import java.time.DateTimeException
import java.time.LocalDate

/**
 * The header field `Retry-After` (RFC 9110, section 10.2.3): seconds, or a date in one of the three forms of section
 * 5.6.7: `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov  6 08:49:37 1994`.
 */
internal object RetryAfter {
    /**
     * The time to wait in milliseconds, up to 2³² - 1 seconds; `null` for another text.
     *
     * @param date the time of day, in milliseconds since 1970. A date in the past is no wait.
     */
    fun millis(text: String, date: Long): Long? {
        if (text.length in 1..MAX_DIGITS && text.all { it in '0'..'9' }) {
            return text.toLong().takeIf { it <= MAX_SECONDS }?.times(1_000)
        }
        val end = millisSince1970(text, date) ?: return null
        return minOf(maxOf(0, end - date), MAX_SECONDS * 1_000)
    }

    /**
     * Reads a date. The name of the day is not compared with it.
     *
     * @param now decides the century of a year with two digits: it is at most 50 years ahead.
     */
    private fun millisSince1970(text: String, now: Long): Long? {
        val parts = FORMS.asSequence().mapNotNull { (form, order) ->
            form.matchEntire(text)?.let { match -> order.map { match.groupValues[it].trim() } }
        }.firstOrNull() ?: return null
        val latest = LocalDate.ofEpochDay(Math.floorDiv(now, 86_400_000L)).year + 50
        val year = parts[0].toInt().let { if (parts[0].length == 4) it else latest - (latest - it) % 100 }
        val (hour, minute, second) = parts.subList(3, 6).map { it.toInt() }
        // 60 is a leap second.
        if (hour > 23 || minute > 59 || second > 60) return null
        val day = try {
            LocalDate.of(year, MONTHS.indexOf(parts[1]) + 1, parts[2].toInt())
        } catch (e: DateTimeException) {
            return null
        }
        return (day.toEpochDay() * 86_400 + hour * 3_600 + minute * 60 + second) * 1_000
    }

    private const val MAX_DIGITS = 10
    /** 32 bits. */
    private const val MAX_SECONDS = 4_294_967_295
    private val MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ")
    private val MONTH = "(${MONTHS.joinToString("|")})"
    private const val TIME = "([0-9]{2}):([0-9]{2}):([0-9]{2})"
    /** With the groups of year, month, day, hour, minute and second. */
    private val FORMS = listOf(
        Regex("(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), ([0-9]{2}) $MONTH ([0-9]{4}) $TIME GMT") to listOf(3, 2, 1, 4, 5, 6),
        Regex("(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, ([0-9]{2})-$MONTH-([0-9]{2}) $TIME GMT") to
            listOf(3, 2, 1, 4, 5, 6),
        Regex("(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) $MONTH ([ 0-9][0-9]) $TIME ([0-9]{4})") to listOf(6, 1, 2, 3, 4, 5)
    )
}
