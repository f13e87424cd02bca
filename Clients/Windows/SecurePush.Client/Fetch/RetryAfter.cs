using System;
using System.Globalization;

namespace SecurePush
{
    /// <summary>
    /// The header field <c>Retry-After</c> (RFC 9110, section 10.2.3): seconds, or a date in the preferred form
    /// (IMF-fixdate, section 5.6.7), such as <c>Sun, 06 Nov 1994 08:49:37 GMT</c>. The two obsolete forms of dates are
    /// not read.
    /// </summary>
    internal static class RetryAfter
    {
        private const string Form = "dd MMM yyyy HH:mm:ss";
        private const string LeapSecond = ":60";
        private static readonly DateTime Epoch = new DateTime(1970, 1, 1, 0, 0, 0, DateTimeKind.Unspecified);
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

            var date = UnixTime(text);
            return date == null ? null : (double?)Math.Min(Math.Max(0, date.Value - now), uint.MaxValue);
        }

        /// <summary>Reads an IMF-fixdate. The name of the day is not compared with the date.</summary>
        private static double? UnixTime(string text)
        {
            if (text == null || text.Length != 29 || !text.EndsWith(" GMT", StringComparison.Ordinal)
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
