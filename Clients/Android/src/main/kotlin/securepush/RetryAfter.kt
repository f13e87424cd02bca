package securepush

import java.time.DateTimeException
import java.time.LocalDate

/**
 * The header field `Retry-After` (RFC 9110, section 10.2.3): seconds, or a date in the preferred form (IMF-fixdate,
 * section 5.6.7), such as `Sun, 06 Nov 1994 08:49:37 GMT`. The two obsolete forms of dates are not read.
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
        val end = millisSince1970(text) ?: return null
        return minOf(maxOf(0, end - date), MAX_SECONDS * 1_000)
    }

    /** Reads an IMF-fixdate. The name of the day is not compared with the date. */
    private fun millisSince1970(text: String): Long? {
        val parts = FIXDATE.matchEntire(text)?.groupValues ?: return null
        val (hour, minute, second) = parts.subList(4, 7).map { it.toInt() }
        // 60 is a leap second.
        if (hour > 23 || minute > 59 || second > 60) return null
        val day = try {
            LocalDate.of(parts[3].toInt(), MONTHS.indexOf(parts[2]) + 1, parts[1].toInt())
        } catch (e: DateTimeException) {
            return null
        }
        return (day.toEpochDay() * 86_400 + hour * 3_600 + minute * 60 + second) * 1_000
    }

    private const val MAX_DIGITS = 10
    /** 32 bits. */
    private const val MAX_SECONDS = 4_294_967_295
    private val MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ")
    private val FIXDATE = Regex(
        "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), ([0-9]{2}) (${MONTHS.joinToString("|")}) ([0-9]{4}) " +
            "([0-9]{2}):([0-9]{2}):([0-9]{2}) GMT"
    )
}
