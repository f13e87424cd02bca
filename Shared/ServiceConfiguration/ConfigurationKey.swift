/// What `--help` and the documentation need to know of a key, whatever the type of its value.
public protocol ConfigurationKeyDescription: Sendable {
    /// The environment variable, as `HTTP_PORT`.
    var name: String { get }
    /// What stands for a value in usage texts, as `PORT`.
    var hint: String { get }
    /// A second, shorter flag, as `--state`; `nil`: none. Most keys have only the one of their name.
    var shortFlag: String? { get }
    /// The value used when none is given, as it would be written; `nil`: none.
    var defaultValue: String? { get }
    /// The default as shown to people; differs from ``defaultValue`` where the default depends on something.
    var defaultText: String? { get }
    /// One or two sentences, without a closing full stop.
    var meaning: String { get }
    /// Whether the value must never be shown, not even in an error.
    var isSecret: Bool { get }
    /// Why a text is no value of this key, without the text; `nil` when it is one.
    func problem(with text: String) -> String?
}

extension ConfigurationKeyDescription {
    /// The same key as a flag: `--http-port` for `HTTP_PORT`.
    public var flag: String { "--" + name.lowercased().split(separator: "_").joined(separator: "-") }

    /// Both flags, the shorter one first.
    public var flags: [String] { (shortFlag.map { [$0] } ?? []) + [flag] }
}

/// One setting: its name, meaning and default, and how its text becomes a value.
///
/// Every key has two spellings, `HTTP_PORT` in the environment and `--http-port` on the command line; the command line
/// wins. A key can have a shorter flag besides. All keys of SecurePush are in ``ConfigurationKeys``.
public struct ConfigurationKey<Value: Sendable>: ConfigurationKeyDescription {
    public let name: String
    public let shortFlag: String?
    public let defaultValue: String?
    public let defaultText: String?
    public let meaning: String
    public let isSecret: Bool
    /// Turns the text into a value.
    public let parser: ConfigurationParser<Value>

    public var hint: String { parser.hint }

    public func problem(with text: String) -> String? {
        do {
            _ = try parser.parse(text)
            return nil
        } catch { return error.problem }
    }

    /// - Parameters:
    ///   - name: upper case words joined by `_`.
    ///   - defaultValue: the text parsed when nothing is given.
    ///   - shortFlag: a second flag, with its `--`.
    ///   - defaultText: shown instead of `defaultValue`.
    public init(
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
    public func withDefault(_ value: String) -> ConfigurationKey {
        ConfigurationKey(
            name, parser, shortFlag: shortFlag, default: value, isSecret: isSecret, meaning: meaning)
    }

    /// The same key read in another way, for example a path that need not exist yet.
    public func parsed<Other>(by parser: ConfigurationParser<Other>) -> ConfigurationKey<Other> {
        ConfigurationKey<Other>(
            name, parser, shortFlag: shortFlag, default: defaultValue, defaultText: defaultText, isSecret: isSecret,
            meaning: meaning)
    }
}

extension ConfigurationKey {
    /// Makes what this setting names, such as the key ring of a file, when the service is built.
    ///
    /// - Throws: ``ConfigurationError`` that names this key, whatever `make` throws: what the setting names is there
    ///   and cannot be used, which exits 78 like a setting that cannot be read.
    public func making<Made>(_ make: () throws -> Made) throws(ConfigurationError) -> Made {
        do {
            return try make()
        } catch {
            throw ConfigurationError(name, "cannot be used: \(error)")
        }
    }
}
