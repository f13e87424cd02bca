/// The time of a scheduled send, as clients spell it.
///
/// `2026-01-31T10:00:00` (.NET, Java, Go), `2026-01-31T10:00:00.000Z` (JavaScript), with an offset (RFC 3339),
/// `2026-01-31'T'10:00:00` (Python sample), and with a blank for the `T`. Without a zone it is UTC.
enum ScheduleTime {
    /// The hub's limit: 7 days.
    static let horizonMilliseconds: Int64 = 7 * 86_400_000

    static func read(_ text: String) -> WireTime? {
        var rest = text[...].utf8.drop { $0 == UInt8(ascii: " ") }
        while rest.last == UInt8(ascii: " ") { rest.removeLast() }
        guard let year = number(4, &rest), take("-", &rest), let month = number(2, &rest), take("-", &rest),
            let day = number(2, &rest),
            take("'T'", &rest) || take("T", &rest) || take("t", &rest) || take(" ", &rest),
            let hour = number(2, &rest), take(":", &rest), let minute = number(2, &rest), take(":", &rest),
            let second = number(2, &rest), hour < 24, minute < 60, second < 61,
            let days = CivilDate(year: year, month: month, day: day).daysSince1970,
            let fraction = fraction(&rest), let offset = offset(&rest), rest.isEmpty
        else { return nil }
        let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset * 60
        let milliseconds = Int64(seconds) * 1000 + Int64(fraction)
        return WireTime.range.contains(milliseconds) ? WireTime(milliseconds: milliseconds) : nil
    }

    /// Milliseconds; further digits count for nothing.
    private static func fraction(_ rest: inout Substring.UTF8View) -> Int? {
        guard take(".", &rest) else { return 0 }
        let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard !digits.isEmpty, digits.count <= 9 else { return nil }
        rest = rest[digits.endIndex...]
        var milliseconds = 0
        var scale = 100
        for digit in digits.prefix(3) {
            milliseconds += Int(digit - UInt8(ascii: "0")) * scale
            scale /= 10
        }
        return milliseconds
    }

    /// Minutes east of UTC.
    private static func offset(_ rest: inout Substring.UTF8View) -> Int? {
        if rest.isEmpty || take("Z", &rest) || take("z", &rest) { return 0 }
        let sign = take("+", &rest) ? 1 : take("-", &rest) ? -1 : 0
        guard sign != 0, let hours = number(2, &rest) else { return nil }
        _ = take(":", &rest)
        guard let minutes = number(2, &rest), hours < 24, minutes < 60 else { return nil }
        return sign * (hours * 60 + minutes)
    }

    private static func number(_ width: Int, _ rest: inout Substring.UTF8View) -> Int? {
        let digits = rest.prefix(width)
        guard digits.count == width, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        rest = rest[digits.endIndex...]
        return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }

    private static func take(_ text: StaticString, _ rest: inout Substring.UTF8View) -> Bool {
        let wanted = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        guard rest.starts(with: wanted) else { return false }
        rest = rest.dropFirst(wanted.count)
        return true
    }
}
