const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const date = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (\d\d) ([A-Z][a-z]{2}) (\d{4}) (\d\d):(\d\d):(\d\d) GMT$/;
const longest = 2 ** 32 - 1;

/**
 * The wait of the header field `Retry-After` (RFC 9110, section 10.2.3): seconds, or a date in the preferred form
 * (IMF-fixdate, section 5.6.7), such as `Sun, 06 Nov 1994 08:49:37 GMT`. The two obsolete forms of dates are not read.
 *
 * @param {string | undefined} text
 * @param {number} now in seconds since 1970. A date in the past is no wait
 * @returns {number | null} 0 to 2³² - 1 seconds; `null` if there is no wait that can be read
 */
export function retryAfter(text, now) {
  if (text === undefined) return null;
  if (/^\d{1,10}$/.test(text)) return Number(text) <= longest ? Number(text) : null;
  const end = secondsSince1970(text);
  return end === null ? null : Math.min(Math.max(0, end - now), longest);
}

/**
 * Reads an IMF-fixdate. The name of the day is not compared with the date.
 *
 * @param {string} text
 * @returns {number | null}
 */
function secondsSince1970(text) {
  const parts = date.exec(text);
  if (!parts) return null;
  const month = months.indexOf(parts[2]);
  const [day, year, hour, minute, second] = [parts[1], ...parts.slice(3)].map(Number);
  // 60 is a leap second.
  if (month < 0 || hour > 23 || minute > 59 || second > 60) return null;
  const midnight = new Date(0);
  midnight.setUTCFullYear(year, month, day);
  // A day that the month does not have is another day.
  if (midnight.getUTCMonth() !== month || midnight.getUTCDate() !== day) return null;
  return midnight.getTime() / 1000 + hour * 3_600 + minute * 60 + second;
}
