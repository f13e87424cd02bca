extension Timestamp: CustomStringConvertible {
    /// RFC 3339 in UTC with milliseconds: `2026-11-21T08:30:00.000Z`.
    public var description: String {
        let (seconds, milliseconds) = milliseconds.floored(by: 1000)
        let (days, secondOfDay) = seconds.floored(by: 86_400)
        let (year, month, day) = Timestamp.civil(daysSinceEpoch: days)
        var text = ""
        text.reserveCapacity(24)
        text.append(digits: Int64(year), width: 4)
        text.append("-")
        text.append(digits: month, width: 2)
        text.append("-")
        text.append(digits: day, width: 2)
        text.append("T")
        text.append(digits: secondOfDay / 3600, width: 2)
        text.append(":")
        text.append(digits: secondOfDay / 60 % 60, width: 2)
        text.append(":")
        text.append(digits: secondOfDay % 60, width: 2)
        text.append(".")
        text.append(digits: milliseconds, width: 3)
        text.append("Z")
        return text
    }

    /// The first and the last time of the years 1970 to 9999 in UTC, which a text of four digits can name.
    private static let readable: ClosedRange<Int64> = 0...253_402_300_799_999

    /// Reads an RFC 3339 `date-time` with any offset; fractions past milliseconds are cut. Years 1970 to 9999, in UTC
    /// too; else `nil`.
    public init?(rfc3339 text: String) {
        var scanner = DateTimeScanner(text.utf8[...])
        guard let year = scanner.number(4), scanner.take("-"), let month = scanner.number(2), scanner.take("-"),
            let day = scanner.number(2), scanner.takeDateTimeSeparator(), let hour = scanner.number(2),
            scanner.take(":"), let minute = scanner.number(2), scanner.take(":"), let second = scanner.number(2),
            let fraction = scanner.fraction(), let offset = scanner.offsetMinutes(), scanner.isAtEnd
        else { return nil }
        guard year >= 1970, (1...12).contains(month), day >= 1, day <= Timestamp.days(inMonth: month, of: year),
            hour < 24, minute < 60, second <= 60
        else { return nil }
        let days = Timestamp.daysSinceEpoch(year: year, month: month, day: day)
        let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset * 60
        let milliseconds = seconds * 1000 + fraction
        guard Timestamp.readable.contains(milliseconds) else { return nil }
        self.init(milliseconds: milliseconds)
    }

    /// Proleptic Gregorian calendar, by counting days of 400-year eras that begin in March.
    private static func civil(daysSinceEpoch: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = (daysSinceEpoch + 719_468).floored(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }

    private static func daysSinceEpoch(year: Int64, month: Int64, day: Int64) -> Int64 {
        let (era, yearOfEra) = (month <= 2 ? year - 1 : year).floored(by: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func days(inMonth month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

extension String {
    /// Appends a number with leading zeros.
    fileprivate mutating func append(digits number: Int64, width: Int) {
        var divisor: Int64 = 1
        for _ in 1..<width { divisor *= 10 }
        while divisor > 0 {
            append(Character(Unicode.Scalar(UInt8(48 + number / divisor % 10))))
            divisor /= 10
        }
    }
}

/// Reads the fixed fields of an RFC 3339 date-time one after another.
private struct DateTimeScanner {
    private var rest: Substring.UTF8View

    init(_ text: Substring.UTF8View) { rest = text }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func take(_ character: Character) -> Bool {
        guard let first = rest.first, first == character.asciiValue else { return false }
        rest.removeFirst()
        return true
    }

    mutating func takeDateTimeSeparator() -> Bool { take("T") || take("t") }

    mutating func number(_ width: Int) -> Int64? {
        var value: Int64 = 0
        for _ in 0..<width {
            guard let digit = rest.first, (48...57).contains(digit) else { return nil }
            rest.removeFirst()
            value = value * 10 + Int64(digit - 48)
        }
        return value
    }

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

    mutating func offsetMinutes() -> Int64? {
        if take("Z") || take("z") { return 0 }
        let sign: Int64
        if take("+") { sign = 1 } else if take("-") { sign = -1 } else { return nil }
        guard let hours = number(2), hours < 24, take(":"), let minutes = number(2), minutes < 60 else { return nil }
        return sign * (hours * 60 + minutes)
    }
}
