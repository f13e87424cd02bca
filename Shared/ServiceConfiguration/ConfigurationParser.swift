package import Domain
package import Foundations
package import Logging

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Why a text is not a value of a setting.
package struct ConfigurationRefusal: Error, Sendable, Hashable {
    /// The predicate of a sentence, for example `is not true or false`. It never repeats the text.
    package let problem: String

    package init(_ problem: String) { self.problem = problem }
}

/// Turns the text of a setting into a value.
package struct ConfigurationParser<Value: Sendable>: Sendable {
    package let hint: String
    /// Parses a text that is not empty.
    package let parse: @Sendable (String) throws(ConfigurationRefusal) -> Value

    package func map<Other>(_ transform: @escaping @Sendable (Value) -> Other) -> ConfigurationParser<Other> {
        let parse = parse
        return ConfigurationParser<Other>(hint: hint) { text throws(ConfigurationRefusal) in
            transform(try parse(text))
        }
    }
}

extension ConfigurationParser where Value == String {
    package static var string: Self { string(hint: "TEXT") }

    package static func string(hint: String) -> Self {
        ConfigurationParser(hint: hint) { text throws(ConfigurationRefusal) in text }
    }
}

extension ConfigurationParser where Value == String {
    /// A name or an address. An IPv6 address may be in brackets, as in URLs.
    package static var host: Self {
        ConfigurationParser(hint: "HOST") { text throws(ConfigurationRefusal) in
            text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : text
        }
    }
}

extension ConfigurationParser where Value == Bool {
    /// `true`, `yes`, `on`, `1` or their opposites, in upper or lower case.
    package static var boolean: Self {
        ConfigurationParser(hint: "BOOLEAN") { text throws(ConfigurationRefusal) in
            switch text.lowercased() {
            case "true", "yes", "on", "1": return true
            case "false", "no", "off", "0": return false
            default: throw ConfigurationRefusal("is not true or false")
            }
        }
    }
}

extension ConfigurationParser where Value == Int {
    package static func integer(_ range: ClosedRange<Int>, hint: String = "NUMBER") -> Self {
        ConfigurationParser(hint: hint) { text throws(ConfigurationRefusal) in
            guard let number = Int(text), range.contains(number) else {
                throw ConfigurationRefusal("is not a whole number from \(range.lowerBound) to \(range.upperBound)")
            }
            return number
        }
    }

    /// A TCP port; 0 lets the system choose one.
    package static var port: Self { integer(0...65_535, hint: "PORT") }
}

extension ConfigurationParser where Value: CaseIterable & RawRepresentable<String> {
    /// One of the raw values of an enumeration, in upper or lower case.
    package static func oneOf(_ type: Value.Type = Value.self, hint: String) -> Self {
        ConfigurationParser(hint: hint) { text throws(ConfigurationRefusal) in
            if let value = Value(rawValue: text.lowercased()) { return value }
            let known = Value.allCases.map(\.rawValue).joined(separator: ", ")
            throw ConfigurationRefusal("is none of: \(known)")
        }
    }
}

extension ConfigurationParser where Value == Logger.Level {
    /// A level of swift-log, in upper or lower case; `warn` means `warning`.
    package static var logLevel: Self {
        let levels = Logger.Level.allCases.map(\.rawValue)
        return ConfigurationParser(hint: "LEVEL") { text throws(ConfigurationRefusal) in
            let name = text.lowercased()
            if let level = Logger.Level(rawValue: name == "warn" ? "warning" : name) { return level }
            throw ConfigurationRefusal("is none of: " + levels.joined(separator: ", "))
        }
    }
}

extension ConfigurationParser where Value == Platform {
    /// The name of a hub format: lower-case letters and digits.
    package static var platform: Self {
        ConfigurationParser(hint: "PLATFORM") { text throws(ConfigurationRefusal) in
            guard text.utf8.allSatisfy({ (97...122).contains($0) || ByteSet.digits.contains($0) }) else {
                throw ConfigurationRefusal("is not a platform name (lower-case letters and digits)")
            }
            return Platform(rawValue: text)
        }
    }
}

extension ConfigurationParser where Value == Duration {
    /// A number and `ms`, `s`, `m`, `h` or `d`, for example `500ms`, `30s`, `1.5h` or `30d`.
    package static func duration(_ range: ClosedRange<Duration> = .zero ... .seconds(36_500 * 86_400)) -> Self {
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

extension ConfigurationParser where Value == Duration? {
    /// A duration, or `off`, which is `nil`.
    package static func durationOrOff(_ range: ClosedRange<Duration>) -> Self {
        let duration = ConfigurationParser<Duration>.duration(range)
        return ConfigurationParser(hint: "DURATION") { text throws(ConfigurationRefusal) in
            text == "off" ? nil : try duration.parse(text)
        }
    }
}

extension Duration {
    private static let units: [(suffix: String, milliseconds: Int64)] = [
        ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
    ]

    /// Parses `500ms`, `30s`, `2m`, `1.5h` or `30d`: whole milliseconds without a sign. `nil` for any other text.
    package init?(configurationText text: String) {
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

    /// The milliseconds of a fraction of a unit: of `25`, in `1.25h`. At most six digits.
    private static func milliseconds(fraction: Substring, of unit: Int64) -> Int64? {
        guard (1...6).contains(fraction.count), let number = Int64(fraction) else { return nil }
        let scale = fraction.reduce(Int64(1)) { power, _ in power * 10 }
        return number * unit / scale
    }

    /// The shortest exact text in one unit: `90s`, `1h`, `30d`.
    package var configurationText: String {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        let (milliseconds, carries) = whole.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
        // More than 292 million years, which no setting allows.
        guard !overflow, !carries else { return "\(seconds)s" }
        guard milliseconds != 0 else { return "0s" }
        let unit = Duration.units.last { milliseconds % $0.milliseconds == 0 } ?? Duration.units[0]
        return "\(milliseconds / unit.milliseconds)\(unit.suffix)"
    }
}

extension ConfigurationParser where Value == String {
    /// The path of a file that must exist and be readable now, so that a mistake shows at start, not at first use.
    package static var existingFile: Self {
        ConfigurationParser(hint: "FILE") { path throws(ConfigurationRefusal) in
            var status = stat()
            guard stat(path, &status) == 0 else { throw ConfigurationRefusal("names a file that \(reason(errno))") }
            guard status.st_mode & S_IFMT != S_IFDIR else { throw ConfigurationRefusal("names a folder, not a file") }
            guard access(path, R_OK) == 0 else { throw ConfigurationRefusal("names a file that \(reason(errno))") }
            return path
        }
    }

    /// A path, whether or not the file exists.
    package static var path: Self { string(hint: "FILE") }

    private static func reason(_ error: Int32) -> String {
        switch error {
        case ENOENT, ENOTDIR: "does not exist"
        case EACCES: "this user may not read"
        default: "cannot be opened (error \(error))"
        }
    }
}

extension ConfigurationParser where Value == [String] {
    /// A comma-separated list. Spaces around the items are ignored, empty items are refused.
    package static var list: Self { list(of: .string, hint: "LIST") }
}

extension ConfigurationParser {
    /// A comma-separated list of at least one value. Spaces around the items are ignored.
    package static func list<Element>(of element: ConfigurationParser<Element>, hint: String) -> Self
    where Value == [Element] {
        ConfigurationParser(hint: hint) { text throws(ConfigurationRefusal) in
            var values: [Element] = []
            for item in OutsideText.parts(text, at: ",") {
                let item = OutsideText.trimmed(item)
                guard !item.isEmpty else { throw ConfigurationRefusal("has an empty item") }
                do throws(ConfigurationRefusal) {
                    values.append(try element.parse(item))
                } catch {
                    throw ConfigurationRefusal("has an item that \(error.problem)")
                }
            }
            return values
        }
    }
}
