extension ConfigurationParser where Value == Duration {
    /// A number and `ms`, `s`, `m`, `h` or `d`, as `500ms`, `30s`, `1.5h` or `30d`.
    public static func duration(_ range: ClosedRange<Duration> = .zero ... .seconds(36_500 * 86_400)) -> Self {
        ConfigurationParser(hint: "DURATION") { text throws(ConfigurationRefusal) in
            guard let duration = Duration(configurationText: text) else {
                throw ConfigurationRefusal("is not a number and ms, s, m, h or d, as in 30s")
            }
            guard range.contains(duration) else {
                throw ConfigurationRefusal(
                    "is not from \(range.lowerBound.configurationText) to \(range.upperBound.configurationText)")
            }
            return duration
        }
    }
}

extension ConfigurationParser where Value == [Duration] {
    /// A comma-separated list of durations.
    public static func durations(_ range: ClosedRange<Duration>) -> Self {
        list(of: .duration(range), hint: "DURATIONS")
    }
}

extension Duration {
    private static let units: [(suffix: String, milliseconds: Int64)] = [
        ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
    ]

    /// Reads `500ms`, `30s`, `2m`, `1.5h` or `30d`; whole milliseconds, no sign. `nil` for any other text.
    public init?(configurationText text: String) {
        let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let suffix = text.dropFirst(number.count)
        guard let unit = Duration.units.first(where: { $0.suffix == suffix }) else { return nil }
        let parts = number.split(separator: ".", omittingEmptySubsequences: false)
        guard let whole = parts.first.flatMap({ Int64($0) }), parts.count <= 2 else { return nil }
        let (milliseconds, overflow) = whole.multipliedReportingOverflow(by: unit.milliseconds)
        guard !overflow else { return nil }
        guard parts.count == 2 else {
            self = .milliseconds(milliseconds)
            return
        }
        guard let fraction = Duration.milliseconds(fraction: parts[1], of: unit.milliseconds),
            milliseconds <= Int64.max - fraction
        else { return nil }
        self = .milliseconds(milliseconds + fraction)
    }

    /// `25` of an hour, as in `1.25h`, in milliseconds; up to six digits.
    private static func milliseconds(fraction: Substring, of unit: Int64) -> Int64? {
        guard (1...6).contains(fraction.count), let number = Int64(fraction) else { return nil }
        let scale = fraction.reduce(Int64(1)) { power, _ in power * 10 }
        return number * unit / scale
    }

    /// The shortest exact text in one unit: `90s`, `1h`, `30d`.
    public var configurationText: String {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        let (milliseconds, carries) = whole.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
        // More than any text gives: 292 million years.
        guard !overflow, !carries else { return "\(seconds)s" }
        guard milliseconds != 0 else { return "0s" }
        let unit = Duration.units.last { milliseconds % $0.milliseconds == 0 } ?? Duration.units[0]
        return "\(milliseconds / unit.milliseconds)\(unit.suffix)"
    }
}
