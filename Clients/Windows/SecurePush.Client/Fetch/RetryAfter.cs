using System;
using System.Globalization;

namespace SecurePush
{
    /// <summary>
    /// The header field <c>Retry-After</c> (RFC 9110, section 10.2.3): seconds, or a date in one of the three forms of
    /// section 5.6.7: <c>Sun, 06 Nov 1994 08:49:37 GMT</c>, <c>Sunday, 06-Nov-94 08:49:37 GMT</c>,
    /// <c>Sun Nov  6 08:49:37 1994</c>.
    /// </summary>
    internal static class RetryAfter
    {
        private const string Form = "dd MMM yyyy HH:mm:ss";
        private const string LeapSecond = ":60";
        private static readonly DateTime Epoch = new DateTime(1970, 1, 1, 0, 0, 0, DateTimeKind.Unspecified);
        private static readonly string[] LongDays =
        {
            "Monday,", "Tuesday,", "Wednesday,", "Thursday,", "Friday,", "Saturday,", "Sunday,",
        };

        private static readonly string[] Days = { "Mon, ", "Tue, ", "Wed, ", "Thu, ", "Fri, ", "Sat, ", "Sun, " };

        /// <summary>
        /// The time to wait, from 0 to 2³² - 1 seconds; <c>null</c> for another text. A date in the past is no wait.
        /// </summary>
        /// <param name="text">The value of the field; <c>null</c> if there is none.</param>
        /// <param name="now">Seconds since 1970.</param>
        public static double? Seconds(string text, double now)
        {
            if (uint.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var seconds))
            {
                return seconds;
            }

            var date = text == null ? null : UnixTime(Preferred(text, now));
            return date == null ? null : (double?)Math.Min(Math.Max(0, date.Value - now), uint.MaxValue);
        }

        /// <summary>A date in the first form; any other text as it is.</summary>
        /// <param name="text">The value of the field.</param>
        /// <param name="now">Decides the century of a year with two digits: it is at most 50 years ahead.</param>
        private static string Preferred(string text, double now)
        {
            var parts = text.Split(' ');
            var last = parts.Length - 1;

            // Days below 10 have a blank before them.
            var isPadded = last == 5 && parts[2].Length == 0;
            if (text.Length == 24 && (last == 4 || isPadded))
            {
                var day = isPadded ? "0" + parts[3] : parts[2];
                return $"{parts[0]}, {day} {parts[1]} {parts[last]} {parts[last - 1]} GMT";
            }

            var isLong = last == 3 && Array.IndexOf(LongDays, parts[0]) >= 0;
            var date = isLong ? parts[1].Split('-') : Array.Empty<string>();
            if (date.Length != 3 || date[2].Length != 2
                || !int.TryParse(date[2], NumberStyles.None, CultureInfo.InvariantCulture, out var digits))
            {
                return text;
            }

            var latest = Epoch.AddSeconds(now).Year + 50;
            var year = (latest - ((latest - digits) % 100)).ToString(CultureInfo.InvariantCulture);
            return $"{parts[0].Substring(0, 3)}, {date[0]} {date[1]} {year} {parts[2]} {parts[3]}";
        }

        /// <summary>Reads an IMF-fixdate. The name of the day is not compared with the date.</summary>
        private static double? UnixTime(string text)
        {
            if (text.Length != 29 || !text.EndsWith(" GMT", StringComparison.Ordinal)
                || Array.IndexOf(Days, text.Substring(0, 5)) < 0)
            {
                return null;
            }

            var time = text.Substring(5, Form.Length);
            var isLeapSecond = time.EndsWith(LeapSecond, StringComparison.Ordinal);
            time = isLeapSecond ? time.Substring(0, time.Length - LeapSecond.Length) + ":59" : time;
            var isDate = DateTime.TryParseExact(
                time, Form, CultureInfo.InvariantCulture, DateTimeStyles.None, out var date);

            // The parser takes a month in small letters, too.
            return isDate && date.ToString(Form, CultureInfo.InvariantCulture) == time
                ? (date - Epoch).TotalSeconds + (isLeapSecond ? 1 : 0)
                : (double?)null;
        }
    }
}
