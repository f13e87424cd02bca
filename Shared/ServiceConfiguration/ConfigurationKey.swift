import Foundations

/// The description of a key for `--help` and the documentation, independent of the type of its value.
package protocol ConfigurationKeyDescription: Sendable {
    /// The environment variable, for example `HTTP_PORT`.
    var name: String { get }
    /// The placeholder of a value in usage texts, for example `PORT`.
    var hint: String { get }
    /// A second, shorter flag, for example `--state`. Most keys have none.
    var shortFlag: String? { get }
    /// The text that is used when none is given; `nil` if there is none.
    var defaultValue: String? { get }
    /// The default as shown to people. It differs from ``defaultValue`` if the default depends on something.
    var defaultText: String? { get }
    /// One or two sentences, without a closing full stop.
    var meaning: String { get }
    /// Whether the value must never be shown, not even in an error message.
    var isSecret: Bool { get }
    /// Why a text is not a value of this key, without the text; `nil` if it is one.
    func problem(with text: String) -> String?
}

extension ConfigurationKeyDescription {
    /// The same key as a flag: `--http-port` for `HTTP_PORT`.
    package var flag: String { ConfigurationIssue.flag(of: name) }

    /// Whether a value is a URL, or several.
    package var isURL: Bool { hint == "URL" || hint == "URLS" }

    /// Both flags, the shorter one first.
    package var flags: [String] { (shortFlag.map { [$0] } ?? []) + [flag] }
}

/// One setting: its name, meaning and default, and the parser of its text.
///
/// Every key has two spellings, `HTTP_PORT` in the environment and `--http-port` on the command line; the command line
/// wins. A key can have an additional, shorter flag. All keys of the services are in ``ConfigurationKeys``.
package struct ConfigurationKey<Value: Sendable>: ConfigurationKeyDescription {
    package let name: String
    package let shortFlag: String?
    package let defaultValue: String?
    package let defaultText: String?
    package let meaning: String
    package let isSecret: Bool
    package let parser: ConfigurationParser<Value>
    /// The value for a missing or invalid text.
    package let fallback: Value

    package var hint: String { parser.hint }

    package func problem(with text: String) -> String? {
        do {
            _ = try parser.parse(text)
            return nil
        } catch { return error.problem }
    }

    /// A key with a default.
    ///
    /// - Parameter text: a text that the parser accepts; anything else is a mistake in the program.
    package init(
        _ name: String, _ parser: ConfigurationParser<Value>, shortFlag: String? = nil, default text: String,
        isSecret: Bool = false, meaning: String
    ) {
        do {
            fallback = try parser.parse(text)
        } catch {
            preconditionFailure("The default of \(name) \(error.problem).")
        }
        (self.name, self.shortFlag, self.meaning, self.isSecret) = (name, shortFlag, meaning, isSecret)
        (self.parser, defaultValue, defaultText) = (parser, text, text)
    }

    /// A key that may be absent.
    ///
    /// - Parameter defaultText: the meaning of its absence, for people.
    package init<Wrapped>(
        _ name: String, _ parser: ConfigurationParser<Wrapped>, shortFlag: String? = nil, defaultText: String? = nil,
        isSecret: Bool = false, meaning: String
    ) where Value == Wrapped? {
        (self.name, self.shortFlag, self.meaning, self.isSecret) = (name, shortFlag, meaning, isSecret)
        (self.parser, defaultValue, self.defaultText) = (parser.map { $0 }, nil, defaultText)
        fallback = nil
    }
}

extension ConfigurationKey {
    /// Makes the thing that the setting names, for example the key ring of a file, when the service is built.
    ///
    /// - Throws: ``ConfigurationError`` with this key for any error of `make`, so that the service exits 78 like for
    ///   an invalid setting.
    package func making<Made>(_ make: () throws -> Made) throws(ConfigurationError) -> Made {
        do {
            return try make()
        } catch {
            throw ConfigurationError(name, "cannot be used: \(ErrorText.describe(error))")
        }
    }
}
