/// `Retry-After`: seconds, or a date in the preferred form of RFC 9110, section 5.6.7.
enum RetryAfterModel {
    /// The wait in milliseconds; `nil` for another value.
    ///
    /// - Parameter today: milliseconds since 1970.
    static func wait(_ text: String, at today: Int) -> Int? {
        if let seconds = UInt32(text) { return Int(seconds) * 1_000 }
        return date(Array(text.utf8)).map { min(max(0, $0 - today), Int(UInt32.max) * 1_000) }
    }

    /// Compares the text with `Day, 00 Mon 0000 00:00:00 GMT`, byte by byte.
    private static func date(_ text: [UInt8]) -> Int? {
        let form = Array("___, 00 ___ 0000 00:00:00 GMT".utf8)
        guard text.count == form.count,
            zip(text, form).allSatisfy({ byte, expected in
                switch expected {
                case UInt8(ascii: "_"): true
                case UInt8(ascii: "0"): (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                default: byte == expected
                }
            })
        else { return nil }
        func word(_ start: Int) -> String { String(decoding: text[start..<start + 3], as: UTF8.self) }
        func number(_ start: Int, _ count: Int) -> Int {
            text[start..<start + count].reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        }
        let (day, year) = (number(5, 2), number(12, 4))
        let (hour, minute, second) = (number(17, 2), number(20, 2), number(23, 2))
        guard ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"].contains(word(0)),
            let month = months.firstIndex(where: { $0.name == word(8) }), hour < 24, minute < 60, second <= 60
        else { return nil }
        let isLeap = year % 400 == 0 || year % 4 == 0 && year % 100 != 0
        guard day >= 1, day <= months[month].days + (month == 1 && isLeap ? 1 : 0) else { return nil }
        let minutes = (days(year, month, day) * 24 + hour) * 60 + minute
        return (minutes * 60 + second) * 1_000
    }

    /// The days since 1970, counted year by year.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        func length(_ year: Int) -> Int { year % 400 == 0 || year % 4 == 0 && year % 100 != 0 ? 366 : 365 }
        let years = (min(year, 1970)..<max(year, 1970)).reduce(0) { $0 + length($1) }
        let past = months[..<month].reduce(0) { $0 + $1.days }
        return (year < 1970 ? -years : years) + past + (month > 1 && length(year) == 366 ? 1 : 0) + day - 1
    }

    private static let months: [(name: String, days: Int)] = [
        ("Jan", 31), ("Feb", 28), ("Mar", 31), ("Apr", 30), ("May", 31), ("Jun", 30), ("Jul", 31),
        ("Aug", 31), ("Sep", 30), ("Oct", 31), ("Nov", 30), ("Dec", 31),
    ]
}
