import SecurePushCore

/// The description of a key for `--help` and the documentation, independent of the type of its value.
package protocol ConfigurationKeyDescription: Sendable {
    /// The environment variable, for example `HTTP_PORT`.
    var name: String { get }
    /// The placeholder of a value in usage texts, for example `PORT`.
    var hint: String { get }
    /// The words that are values, for completion; empty if there are others.
    var choices: [String] { get }
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
    package var flag: String { "--" + name.lowercased().split(separator: "_").joined(separator: "-") }

    /// Whether a value is a URL, or several.
    package var isURL: Bool { hint == "URL" || hint == "URLS" }

    /// Both flags, the shorter one first.
    package var flags: [String] { (shortFlag.map { [$0] } ?? []) + [flag] }
}

/// One setting: its name, meaning and default, and the parser of its text.
///
/// Every key has two spellings, `HTTP_PORT` in the environment and `--http-port` on the command line; the command line
/// wins. A key can have an additional, shorter flag. All keys of SecurePush are in ``ConfigurationKeys``.
package struct ConfigurationKey<Value: Sendable>: ConfigurationKeyDescription {
    /// The environment variable.
    package let name: String
    /// A second flag, or none.
    package let shortFlag: String?
    /// The text that is used when none is given.
    package let defaultValue: String?
    /// The default as shown to people.
    package let defaultText: String?
    /// One or two sentences.
    package let meaning: String
    /// Whether the value must never be shown.
    package let isSecret: Bool
    /// Turns a text into a value.
    package let parser: ConfigurationParser<Value>

    /// The placeholder of a value in usage texts.
    package var hint: String { parser.hint }

    /// The words that are values, for completion; empty if there are others.
    package var choices: [String] { parser.choices }

    /// Why a text is not a value of this key; `nil` if it is one.
    package func problem(with text: String) -> String? {
        do {
            _ = try parser.parse(text)
            return nil
        } catch { return error.problem }
    }

    /// - Parameters:
    ///   - name: upper-case words joined by `_`.
    ///   - shortFlag: a second flag, with its `--`.
    ///   - defaultValue: the text that is parsed when none is given.
    ///   - defaultText: shown instead of `defaultValue`.
    package init(
        _ name: String, _ parser: ConfigurationParser<Value>, shortFlag: String? = nil,
        default defaultValue: String? = nil, defaultText: String? = nil, isSecret: Bool = false, meaning: String
    ) {
        self.name = name
        self.shortFlag = shortFlag
        self.parser = parser
        self.defaultValue = defaultValue
        self.defaultText = defaultText ?? defaultValue
        self.isSecret = isSecret
        self.meaning = meaning
    }

    /// The same key with another default, for example the port of one service.
    package func withDefault(_ value: String) -> ConfigurationKey {
        ConfigurationKey(
            name, parser, shortFlag: shortFlag, default: value, isSecret: isSecret, meaning: meaning)
    }

    /// The same key with another parser, for example for a path that need not exist yet.
    package func parsed<Other>(by parser: ConfigurationParser<Other>) -> ConfigurationKey<Other> {
        ConfigurationKey<Other>(
            name, parser, shortFlag: shortFlag, default: defaultValue, defaultText: defaultText, isSecret: isSecret,
            meaning: meaning)
    }
}

extension ConfigurationKey {
    /// Makes the thing that the setting names, for example the key ring of a file, when the service is built.
    ///
    /// - Throws: ``ConfigurationError`` with this key for whatever `make` throws, so that the service exits 78 like for
    ///   an invalid setting.
    package func making<Made>(_ make: () throws -> Made) throws(ConfigurationError) -> Made {
        do {
            return try make()
        } catch {
            throw ConfigurationError(name, "cannot be used: \(ErrorText.describe(error))")
        }
    }
}
