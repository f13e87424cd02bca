#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

extension WireTime {
    /// Reads `2026-11-21T10:00:00`, with or without a fraction of any length, with `Z`, an offset or no zone (UTC).
    ///
    /// - Returns: nil for anything else.
    init?(iso8601 text: String) {
        var rest = Substring(text)
        guard let year = Self.digits(4, &rest), Self.take("-", &rest), let month = Self.digits(2, &rest),
            Self.take("-", &rest), let day = Self.digits(2, &rest), Self.take("T", &rest),
            let hour = Self.digits(2, &rest), Self.take(":", &rest), let minute = Self.digits(2, &rest),
            Self.take(":", &rest), let second = Self.digits(2, &rest),
            (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second < 61,
            let fraction = Self.fraction(&rest), let offset = Self.offset(&rest), rest.isEmpty
        else { return nil }
        var parts = tm()
        parts.tm_year = Int32(year - 1900)
        parts.tm_mon = Int32(month - 1)
        parts.tm_mday = Int32(day)
        parts.tm_hour = Int32(hour)
        parts.tm_min = Int32(minute)
        parts.tm_sec = Int32(second)
        self.init(milliseconds: (Int64(timegm(&parts)) - Int64(offset)) * 1000 + Int64(fraction))
    }

    private static func take(_ character: Character, _ rest: inout Substring) -> Bool {
        guard rest.first == character else { return false }
        rest.removeFirst()
        return true
    }

    private static func digits(_ count: Int, _ rest: inout Substring) -> Int? {
        let digits = rest.utf8.prefix(count)
        guard digits.count == count, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        rest = rest.dropFirst(count)
        return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }

    /// Milliseconds; 0 without a fraction, nil when a point has no digit behind it.
    private static func fraction(_ rest: inout Substring) -> Int? {
        guard take(".", &rest) else { return 0 }
        let digits = rest.prefix { $0.isASCII && $0.isNumber }
        guard !digits.isEmpty else { return nil }
        rest = rest[digits.endIndex...]
        return Int((digits + "00").prefix(3))
    }

    /// Seconds east of UTC.
    private static func offset(_ rest: inout Substring) -> Int? {
        if rest.isEmpty || take("Z", &rest) { return 0 }
        let sign = rest.first == "-" ? -1 : 1
        guard take("+", &rest) || take("-", &rest), let hours = digits(2, &rest), hours <= 14, take(":", &rest),
            let minutes = digits(2, &rest), minutes < 60
        else { return nil }
        return sign * (hours * 3600 + minutes * 60)
    }
}
