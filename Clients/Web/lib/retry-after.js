const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const day = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const month = '(?<month>[A-Z][a-z]{2})';
const time = '(?<hour>\\d\\d):(?<minute>\\d\\d):(?<second>\\d\\d)';
const forms = [
  `${day}, (?<day>\\d\\d) ${month} (?<year>\\d{4}) ${time} GMT`,
  `(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (?<day>\\d\\d)-${month}-(?<year>\\d\\d) ${time} GMT`,
  `${day} ${month} (?<day>[ \\d]\\d) ${time} (?<year>\\d{4})`,
].map((form) => new RegExp(`^${form}$`));
const longest = 2 ** 32 - 1;

/**
 * The wait of the header field `Retry-After` (RFC 9110, section 10.2.3): seconds, or a date in one of the three forms
 * of section 5.6.7: `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov  6 08:49:37 1994`.
 *
 * @param {string | undefined} text
 * @param {number} now in seconds since 1970. A date in the past is no wait
 * @returns {number | null} 0 to 2³² - 1 seconds; `null` if there is no wait that can be read
 */
export function retryAfter(text, now) {
  if (text === undefined) return null;
  if (/^\d{1,10}$/.test(text)) return Number(text) <= longest ? Number(text) : null;
  const end = secondsSince1970(text, now);
  return end === null ? null : Math.min(Math.max(0, end - now), longest);
}

/**
 * Reads a date. The name of the day is not compared with it.
 *
 * @param {string} text
 * @param {number} now decides the century of a year with two digits: it is at most 50 years ahead
 * @returns {number | null}
 */
function secondsSince1970(text, now) {
  const parts = forms.map((form) => form.exec(text)?.groups).find((groups) => groups);
  if (!parts) return null;
  const month = months.indexOf(parts.month);
  const [day, hour, minute, second] = [parts.day, parts.hour, parts.minute, parts.second].map(Number);
  const latest = new Date(now * 1000).getUTCFullYear() + 50;
  const year = parts.year.length === 4 ? Number(parts.year) : latest - ((latest - Number(parts.year)) % 100);
  // 60 is a leap second.
  if (month < 0 || hour > 23 || minute > 59 || second > 60) return null;
  const midnight = new Date(0);
  midnight.setUTCFullYear(year, month, day);
  // A day that the month does not have is another day.
  if (midnight.getUTCMonth() !== month || midnight.getUTCDate() !== day) return null;
  return midnight.getTime() / 1000 + hour * 3_600 + minute * 60 + second;
}
