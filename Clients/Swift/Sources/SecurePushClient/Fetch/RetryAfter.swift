import Foundation

/// The header field `Retry-After` (RFC 9110, section 10.2.3): seconds, or a date in one of the three forms of section
/// 5.6.7: `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov  6 08:49:37 1994`.
enum RetryAfter {
    /// The time to wait, from 0 to 2³² - 1 seconds; `nil` for another text.
    ///
    /// - Parameter now: the time of day. A date in the past is no wait.
    static func seconds(_ text: String, at now: Date) -> TimeInterval? {
        // Swift's own reading takes a sign, too.
        if text.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains), let seconds = UInt32(text) {
            return TimeInterval(seconds)
        }
        guard let date = secondsSince1970(preferred(text, at: now)) else { return nil }
        return min(max(0, date - now.timeIntervalSince1970), TimeInterval(UInt32.max))
    }

    /// A date in the first form; any other text as it is.
    ///
    /// - Parameter now: decides the century of a year with two digits: it is at most 50 years ahead.
    private static func preferred(_ text: String, at now: Date) -> String {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        // Days below 10 have a blank before them.
        let isPadded = parts.count == 6 && parts[2].isEmpty
        if text.utf8.count == 24, parts.count == 5 || isPadded, let year = parts.last {
            let day = isPadded ? "0" + parts[3] : parts[2]
            return "\(parts[0]), \(day) \(parts[1]) \(year) \(parts[parts.count - 2]) GMT"
        }
        guard parts.count == 4, let name = longDays.first(where: { $0 == parts[0] }) else { return text }
        let date = parts[1].split(separator: "-", omittingEmptySubsequences: false)
        guard date.count == 3, let short = number(date[2], digits: 2) else { return text }
        // To a day.
        let latest = 1970 + Int((now.timeIntervalSince1970 / 31_556_952).rounded(.down)) + 50
        let year = latest - (latest % 100 - short + 100) % 100
        return "\(name.prefix(3)), \(date[0]) \(date[1]) \(year) \(parts[2]) \(parts[3])"
    }

    /// Reads an IMF-fixdate. The name of the day is not compared with the date.
    private static func secondsSince1970(_ text: String) -> TimeInterval? {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard text.utf8.count == 29, parts.count == 6, days.contains(String(parts[0])), parts[5] == "GMT",
            let day = number(parts[1], digits: 2), let month = months.firstIndex(of: String(parts[2])),
            let year = number(parts[3], digits: 4)
        else { return nil }
        let time = parts[4].split(separator: ":", omittingEmptySubsequences: false)
        // 60 is a leap second.
        guard time.count == 3, let hour = number(time[0], digits: 2), hour < 24,
            let minute = number(time[1], digits: 2), minute < 60, let second = number(time[2], digits: 2), second <= 60,
            (1...length(ofMonth: month, in: year)).contains(day)
        else { return nil }
        let dayOfYear = (0..<month).reduce(day - 1) { $0 + length(ofMonth: $1, in: year) }
        return TimeInterval(((dayCount(before: year) + dayOfYear) * 24 + hour) * 3_600 + minute * 60 + second)
    }

    private static func number(_ text: Substring, digits: Int) -> Int? {
        let isNumber = text.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains)
        return isNumber && text.utf8.count == digits ? Int(text) : nil
    }

    private static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && year % 100 != 0 || year % 400 == 0 }

    private static func length(ofMonth month: Int, in year: Int) -> Int {
        month == 1 && isLeap(year) ? 29 : [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month]
    }

    /// The days from 1970 to the first day of a year; fewer than 0 before 1970.
    private static func dayCount(before year: Int) -> Int {
        let last = year - 1
        // 719,162 days lie between the first day of year 1 and 1970.
        return last * 365 + last / 4 - last / 100 + last / 400 - 719_162
    }

    private static let days: Set<String> = ["Mon,", "Tue,", "Wed,", "Thu,", "Fri,", "Sat,", "Sun,"]
    private static let longDays = [
        "Monday,", "Tuesday,", "Wednesday,", "Thursday,", "Friday,", "Saturday,", "Sunday,",
    ]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
}
