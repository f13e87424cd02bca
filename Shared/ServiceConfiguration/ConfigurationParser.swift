/// Why a text is no value of a setting: the predicate of a sentence, as `is not true or false`. Never repeats the text.
public struct ConfigurationRefusal: Error, Sendable, Hashable {
    /// The predicate.
    public let problem: String
    /// - Parameter problem: as `is not true or false`.
    public init(_ problem: String) { self.problem = problem }
}

/// How the text of a setting becomes a value.
public struct ConfigurationParser<Value: Sendable>: Sendable {
    /// What stands for the value in usage texts, as `PORT`.
    public let hint: String
    /// Reads a text that is not empty.
    public let parse: @Sendable (String) throws(ConfigurationRefusal) -> Value

    /// - Parameters:
    ///   - hint: what stands for the value in usage texts.
    ///   - parse: reads a text that is not empty.
    public init(hint: String, parse: @escaping @Sendable (String) throws(ConfigurationRefusal) -> Value) {
        self.hint = hint
        self.parse = parse
    }

    /// The same syntax, other values.
    public func map<Other>(_ transform: @escaping @Sendable (Value) -> Other) -> ConfigurationParser<Other> {
        let parse = parse
        return ConfigurationParser<Other>(hint: hint) { text throws(ConfigurationRefusal) in
            transform(try parse(text))
        }
    }
}

extension ConfigurationParser where Value == String {
    /// Any text.
    public static var string: Self { string(hint: "TEXT") }

    /// Any text.
    public static func string(hint: String) -> Self {
        ConfigurationParser(hint: hint) { text throws(ConfigurationRefusal) in text }
    }
}

extension ConfigurationParser where Value == Bool {
    /// `true`, `yes`, `on`, `1` or their opposites, in any case.
    public static var boolean: Self {
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
    /// A whole number within a range.
    public static func integer(_ range: ClosedRange<Int>, hint: String = "NUMBER") -> Self {
        ConfigurationParser(hint: hint) { text throws(ConfigurationRefusal) in
            guard let number = Int(text), range.contains(number) else {
                throw ConfigurationRefusal("is not a whole number from \(range.lowerBound) to \(range.upperBound)")
            }
            return number
        }
    }

    /// A TCP port; 0 lets the system choose one.
    public static var port: Self { integer(0...65_535, hint: "PORT") }
}

extension ConfigurationParser where Value: CaseIterable & RawRepresentable<String> {
    /// One of the raw values of an enumeration, in any case.
    public static func oneOf(_ type: Value.Type = Value.self, hint: String) -> Self {
        ConfigurationParser(hint: hint) { text throws(ConfigurationRefusal) in
            if let value = Value(rawValue: text.lowercased()) { return value }
            let known = Value.allCases.map(\.rawValue).joined(separator: ", ")
            throw ConfigurationRefusal("is none of: \(known)")
        }
    }
}
