import Domain
import Foundations

/// A rate with a burst, as settings write it: `30/m,burst=30` is 30 in a minute on average, and 30 at once.
package struct RateLimit: Sendable, Hashable {
    /// How many are allowed in each ``period`` on average.
    package let count: Int
    /// A second, a minute, an hour or a day.
    package let period: Duration
    /// How many are allowed at once after a pause.
    package let burst: Int

    private static let maxCount = 1_000_000
    private static let periods: [Character: Duration] = [
        "s": .seconds(1), "m": .seconds(60), "h": .seconds(3600), "d": .seconds(86_400),
    ]

    /// Parses `COUNT/UNIT` or `COUNT/UNIT,burst=COUNT`, where the unit is `s`, `m`, `h` or `d` and a count is 1 to
    /// 1,000,000. Without `burst` it is the first count. `nil` for any other text.
    package init?(configurationText text: String) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard let rate = parts.first?.split(separator: "/", omittingEmptySubsequences: false), parts.count <= 2,
            rate.count == 2, let count = Self.count(rate[0]), rate[1].count == 1,
            let period = rate[1].first.flatMap({ Self.periods[$0] })
        else { return nil }
        var burst = count
        if parts.count == 2 {
            let name = "burst="
            guard parts[1].hasPrefix(name), let given = Self.count(parts[1].dropFirst(name.count)) else { return nil }
            burst = given
        }
        (self.count, self.period, self.burst) = (count, period, burst)
    }

    private static func count(_ digits: Substring) -> Int? {
        guard (1...7).contains(digits.utf8.count), digits.utf8.allSatisfy(ByteSet.digits.contains) else { return nil }
        return Int(digits).flatMap { (1...maxCount).contains($0) ? $0 : nil }
    }
}

extension ConfigurationParser where Value == RateLimit? {
    /// A rate such as `30/m,burst=30`, or `off`, which is `nil`.
    package static var rateLimitOrOff: Self {
        ConfigurationParser(hint: "RATE") { text throws(ConfigurationRefusal) in
            if text == "off" { return nil }
            guard let limit = RateLimit(configurationText: text) else {
                throw ConfigurationRefusal(
                    "is neither off nor a rate such as 30/m,burst=30 (per s, m, h or d; numbers from 1 to 1000000)")
            }
            return limit
        }
    }
}
