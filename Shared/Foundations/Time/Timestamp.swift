#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A point in time: whole milliseconds since the Unix epoch, UTC.
///
/// On the wire it is RFC 3339 with milliseconds and `Z`. It is a type of our own because a date formatter costs more
/// than the rest of a request, and because every store keeps exactly this number.
package struct Timestamp: Hashable, Sendable {
    /// Milliseconds since the Unix epoch.
    package let milliseconds: Int64

    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// The wall clock.
    package static var now: Timestamp {
        Timestamp(milliseconds: Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)))
    }

    /// Whole seconds since the Unix epoch, rounded down.
    package var seconds: Int64 { milliseconds.floored(by: 1000).quotient }

    /// Midnight in UTC, at this time or before it.
    package var startOfDay: Timestamp {
        Timestamp(milliseconds: milliseconds.subtractingClamped(milliseconds.floored(by: 86_400_000).remainder))
    }

    /// The years 1970 to 9999 in UTC. A time from outside must be within them: RFC 3339 has four digits for the year.
    package static let supported = Timestamp(milliseconds: 0)...Timestamp(milliseconds: 253_402_300_799_999)

    /// The sum, or the latest or earliest time if the sum does not fit into 64 bits.
    package static func + (time: Timestamp, duration: Duration) -> Timestamp {
        Timestamp(milliseconds: time.milliseconds.addingClamped(duration.milliseconds))
    }

    /// The difference, or the latest or earliest time if the difference does not fit into 64 bits.
    package static func - (time: Timestamp, duration: Duration) -> Timestamp {
        Timestamp(milliseconds: time.milliseconds.subtractingClamped(duration.milliseconds))
    }

    /// The time between two times, or the longest duration if it does not fit into 64 bits of milliseconds.
    package static func - (later: Timestamp, earlier: Timestamp) -> Duration {
        .milliseconds(later.milliseconds.subtractingClamped(earlier.milliseconds))
    }
}

extension Timestamp: Comparable {
    package static func < (lhs: Timestamp, rhs: Timestamp) -> Bool { lhs.milliseconds < rhs.milliseconds }
}

// MARK: Writing

extension Timestamp: CustomStringConvertible {
    /// RFC 3339 in UTC with milliseconds: `2026-11-21T08:30:00.000Z`.
    package var description: String { rfc3339(hasMilliseconds: true) }

    /// RFC 3339 in UTC with whole seconds: `2026-11-21T08:30:00Z`.
    package var rfc3339Seconds: String { rfc3339(hasMilliseconds: false) }

    /// The digits of the date and the time of day in UTC: `20261121083000`.
    package var compact: String {
        String(unsafeUninitializedCapacity: 14) { buffer in
            let time = CivilTime(self)
            var text = FixedText(buffer)
            text.put(time.year, 4)
            for field in [time.month, time.day, time.hour, time.minute, time.second] { text.put(field, 2) }
            return text.count
        }
    }

    /// The date format of HTTP (IMF-fixdate, RFC 9110, section 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
    package var httpDate: String {
        String(unsafeUninitializedCapacity: 29) { buffer in
            let time = CivilTime(self)
            var text = FixedText(buffer)
            text.put(CivilTime.weekdays[time.weekday])
            text.put(", ")
            text.put(time.day, 2)
            text.put(" ")
            text.put(CivilTime.months[Int(time.month) - 1])
            text.put(" ")
            text.put(time.year, 4)
            text.put(" ")
            text.put(timeOfDay: time)
            text.put(" GMT")
            return text.count
        }
    }

    private func rfc3339(hasMilliseconds: Bool) -> String {
        String(unsafeUninitializedCapacity: 24) { buffer in
            let time = CivilTime(self)
            var text = FixedText(buffer)
            text.put(time.year, 4)
            text.put("-")
            text.put(time.month, 2)
            text.put("-")
            text.put(time.day, 2)
            text.put("T")
            text.put(timeOfDay: time)
            if hasMilliseconds {
                text.put(".")
                text.put(time.millisecond, 3)
            }
            text.put("Z")
            return text.count
        }
    }
}

/// ASCII text of a known length, written from the front.
private struct FixedText {
    private let bytes: UnsafeMutableBufferPointer<UInt8>
    private(set) var count = 0

    init(_ bytes: UnsafeMutableBufferPointer<UInt8>) { self.bytes = bytes }

    mutating func put(_ text: StaticString) {
        for index in 0..<text.utf8CodeUnitCount { put(text.utf8Start[index]) }
    }

    /// The last digits of a number, with leading zeros.
    mutating func put(_ number: Int64, _ width: Int) {
        var divisor: Int64 = 1
        for _ in 1..<width { divisor *= 10 }
        while divisor > 0 {
            put(UInt8(ascii: "0") + UInt8((number / divisor % 10).magnitude))
            divisor /= 10
        }
    }

    mutating func put(timeOfDay time: CivilTime) {
        put(time.hour, 2)
        put(":")
        put(time.minute, 2)
        put(":")
        put(time.second, 2)
    }

    private mutating func put(_ byte: UInt8) {
        bytes.initializeElement(at: count, to: byte)
        count += 1
    }
}

// MARK: Reading

extension Timestamp {
    /// The message to a client about any other text.
    package static let requirement = "The time must be in RFC 3339 format, for example 2026-11-21T08:30:00Z."

    /// Reads an RFC 3339 `date-time` with any offset. Fractions are cut to milliseconds.
    ///
    /// - Returns: `nil` for any other text, and if the year is not one of ``supported``, as written or in UTC.
    package init?(rfc3339 text: String) {
        guard let time = Timestamp(dateTime: text, needsZone: true), Timestamp.supported.contains(time) else {
            return nil
        }
        self = time
    }

    /// Reads a date and a time of day as ISO 8601 clients write them: RFC 3339, but the zone may be missing (UTC) and
    /// its offset may have no colon. Fractions are cut to milliseconds.
    ///
    /// - Returns: `nil` for any other text. The year may be any with four digits; compare with ``supported``.
    package init?(iso8601 text: String) { self.init(dateTime: text, needsZone: false) }

    private init?(dateTime text: String, needsZone: Bool) {
        var scanner = DateTimeScanner(text.utf8[...])
        guard let year = scanner.number(4), scanner.take("-"), let month = scanner.number(2), scanner.take("-"),
            let day = scanner.number(2), scanner.take("T") || scanner.take("t"),
            let hour = scanner.number(2), scanner.take(":"), let minute = scanner.number(2), scanner.take(":"),
            let second = scanner.number(2), let fraction = scanner.fraction(),
            let offset = scanner.offsetMinutes(needsZone: needsZone), scanner.isAtEnd
        else { return nil }
        let time = CivilTime(
            year: year, month: month, day: day, hour: hour, minute: minute, second: second, millisecond: fraction)
        guard let local = Timestamp(time), year >= 1970 || !needsZone else { return nil }
        self = local - .seconds(offset * 60)
    }

    /// Reads the three date formats of HTTP (RFC 9110, section 5.6.7). The day of the week is not checked.
    ///
    /// - Parameter now: decides the century of a year with two digits: it is at most 50 years ahead.
    /// - Returns: `nil` for any other text, and outside ``supported``.
    package init?(httpDate text: String, now: Timestamp = .now) {
        let parts = text.split(separator: " ")
        switch parts.count {
        // Sun, 06 Nov 1994 08:49:37 GMT
        case 6 where parts[5] == "GMT" && parts[1].utf8.count == 2:
            self.init(year: parts[3], month: parts[2], day: parts[1], time: parts[4])
        // Sun Nov  6 08:49:37 1994
        case 5:
            let day = parts[2].utf8.count == 1 ? "0" + parts[2] : parts[2]
            self.init(year: parts[4], month: parts[1], day: day, time: parts[3])
        // Sunday, 06-Nov-94 08:49:37 GMT
        case 4 where parts[3] == "GMT":
            let date = parts[1].split(separator: "-", omittingEmptySubsequences: false)
            guard date.count == 3, date[2].utf8.count == 2, ByteSet.digits.containsAll(date[2]),
                let short = Int64(date[2])
            else { return nil }
            let latest = CivilTime(now).year + 50
            let year = latest - (latest - short).floored(by: 100).remainder
            self.init(year: "\(year)", month: date[1], day: date[0], time: parts[2])
        default: return nil
        }
    }

    private init?(year: Substring, month: Substring, day: Substring, time: Substring) {
        guard let month = CivilTime.months.firstIndex(where: { "\($0)" == month }) else { return nil }
        let number = month < 9 ? "0\(month + 1)" : "\(month + 1)"
        self.init(rfc3339: "\(year)-\(number)-\(day)T\(time)Z")
    }
}

/// Reads the fixed fields of a date and time one after another.
private struct DateTimeScanner {
    private var rest: Substring.UTF8View

    init(_ text: Substring.UTF8View) { rest = text }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard let first = rest.first, first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    mutating func number(_ width: Int) -> Int64? {
        var value: Int64 = 0
        for _ in 0..<width {
            guard let digit = rest.first, (48...57).contains(digit) else { return nil }
            rest.removeFirst()
            value = value * 10 + Int64(digit - 48)
        }
        return value
    }

    /// Milliseconds; 0 without a fraction.
    mutating func fraction() -> Int64? {
        guard take(".") else { return 0 }
        var milliseconds: Int64 = 0
        var weight: Int64 = 100
        var count = 0
        while let digit = rest.first, (48...57).contains(digit) {
            rest.removeFirst()
            milliseconds += Int64(digit - 48) * weight
            weight /= 10
            count += 1
        }
        return count > 0 ? milliseconds : nil
    }

    /// The minutes by which the zone is ahead of UTC.
    mutating func offsetMinutes(needsZone: Bool) -> Int64? {
        if take("Z") || take("z") { return 0 }
        if isAtEnd, !needsZone { return 0 }
        let sign: Int64
        if take("+") { sign = 1 } else if take("-") { sign = -1 } else { return nil }
        guard let hours = number(2), hours < 24, take(":") || !needsZone, let minutes = number(2), minutes < 60 else {
            return nil
        }
        return sign * (hours * 60 + minutes)
    }
}

// MARK: The calendar

/// A time in UTC by the proleptic Gregorian calendar: the one calendar of the project.
package struct CivilTime: Sendable, Hashable {
    package var year: Int64
    /// From 1.
    package var month: Int64
    /// From 1.
    package var day: Int64
    /// 0 to 23.
    package var hour: Int64
    /// 0 to 59.
    package var minute: Int64
    /// 0 to 59; 60, a leap second, is read as the first second of the next minute.
    package var second: Int64
    /// 0 to 999.
    package var millisecond: Int64

    /// Makes a time of its fields, which are not checked.
    package init(
        year: Int64, month: Int64, day: Int64, hour: Int64 = 0, minute: Int64 = 0, second: Int64 = 0,
        millisecond: Int64 = 0
    ) {
        (self.year, self.month, self.day) = (year, month, day)
        (self.hour, self.minute, self.second, self.millisecond) = (hour, minute, second, millisecond)
    }

    /// The fields of a time, by Howard Hinnant's `civil_from_days`: eras of 400 years that begin in March, so that the
    /// leap day is the last one of a year.
    package init(_ time: Timestamp) {
        let (seconds, millisecond) = time.milliseconds.floored(by: 1000)
        let (days, secondOfDay) = seconds.floored(by: 86_400)
        let (era, dayOfEra) = (days + 719_468).floored(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        month = shifted < 10 ? shifted + 3 : shifted - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        day = dayOfYear - (153 * shifted + 2) / 5 + 1
        (hour, minute, second) = (secondOfDay / 3600, secondOfDay / 60 % 60, secondOfDay % 60)
        self.millisecond = millisecond
    }

    /// Days since the Unix epoch.
    fileprivate var daysSinceEpoch: Int64 {
        let (era, yearOfEra) = (month <= 2 ? year - 1 : year).floored(by: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// The days since Sunday.
    fileprivate var weekday: Int { Int((daysSinceEpoch + 4).floored(by: 7).remainder) }

    fileprivate var isValid: Bool {
        (0...9999).contains(year) && (1...12).contains(month) && day >= 1 && day <= daysInMonth
            && (0..<24).contains(hour) && (0..<60).contains(minute) && (0...60).contains(second)
            && (0..<1000).contains(millisecond)
    }

    private var daysInMonth: Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    fileprivate static let weekdays: [StaticString] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    fileprivate static let months: [StaticString] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}

extension Timestamp {
    /// The time of a date and a time of day in UTC; `nil` if there is no such day or time, and outside of the years 0
    /// to 9999.
    package init?(_ time: CivilTime) {
        guard time.isValid else { return nil }
        let seconds = time.daysSinceEpoch * 86_400 + time.hour * 3600 + time.minute * 60 + time.second
        self.init(milliseconds: seconds * 1000 + time.millisecond)
    }
}

// MARK: Durations

extension Duration {
    /// Whole milliseconds, rounded towards zero; the nearest number if it does not fit into 64 bits.
    package var milliseconds: Int64 {
        let (seconds, isTooMuch) = components.seconds.multipliedReportingOverflow(by: 1000)
        if isTooMuch { return components.seconds < 0 ? .min : .max }
        return seconds.addingClamped(components.attoseconds / 1_000_000_000_000_000)
    }

    /// Reads `Retry-After` (RFC 9110, section 10.2.3): whole seconds, or a date of HTTP.
    ///
    /// - Returns: how long to wait from `now`: not negative, and at most a day, the longest wait that makes sense for a
    ///   retry. `nil` for any other text.
    package init?(retryAfter text: String, now: Timestamp) {
        let longest: Int64 = 86_400
        if !text.isEmpty, ByteSet.digits.containsAll(text) {
            self = .seconds(min(Int64(text) ?? longest, longest))
        } else if let time = Timestamp(httpDate: text, now: now) {
            self = .milliseconds(min(max(0, (time - now).milliseconds), longest * 1000))
        } else {
            return nil
        }
    }
}

extension Int64 {
    /// The sum, or the nearest number if it does not fit.
    package func addingClamped(_ other: Int64) -> Int64 {
        let (sum, isTooMuch) = addingReportingOverflow(other)
        return isTooMuch ? (other < 0 ? .min : .max) : sum
    }

    /// The difference, or the nearest number if it does not fit.
    package func subtractingClamped(_ other: Int64) -> Int64 {
        let (difference, isTooMuch) = subtractingReportingOverflow(other)
        return isTooMuch ? (other > 0 ? .min : .max) : difference
    }

    /// Division that rounds down, which times before 1970 need.
    fileprivate func floored(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
