import Configuration
public import SecurePushCore

/// Looks settings up on the command line, in the environment and in the defaults, in this order, and collects what is
/// wrong with them, so that a person sees all mistakes at once.
///
/// An empty text is the same as none. The lookup hierarchy is swift-configuration's: the flags are an in-memory
/// provider in front of the environment.
public struct ConfigurationReader: Sendable {
    /// What was found unusable so far, in the order of reading.
    public private(set) var issues: [ConfigurationIssue] = []

    private let values: ConfigReader
    private let flags: [String: String]

    /// - Parameters:
    ///   - flags: by key name (`HTTP_PORT`), as ``ServiceArguments`` gives them.
    ///   - environment: the process's environment.
    public init(flags: [String: String] = [:], environment: [String: String]) {
        self.flags = flags.filter { !$0.value.isEmpty }
        var known: [AbsoluteConfigKey: ConfigValue] = [:]
        for (name, text) in self.flags {
            known[AbsoluteConfigKey(ConfigurationReader.key(name))] = ConfigValue(.string(text), isSecret: true)
        }
        values = ConfigReader(providers: [
            InMemoryProvider(name: "flags", values: known),
            EnvironmentVariablesProvider(
                environmentVariables: environment.filter { !$0.value.isEmpty }, secretsSpecifier: .all),
        ])
    }

    /// The value of a key; `nil` if it is absent and has no default, or cannot be used (then an issue is noted).
    public mutating func read<V>(_ key: ConfigurationKey<V>) -> V? {
        guard let text = text(key) else { return nil }
        do {
            return try key.parser.parse(text)
        } catch {
            note(key.name, describe(key, text, error.problem))
            return nil
        }
    }

    /// The value of a key that must be there: absent is an issue too.
    public mutating func require<V>(_ key: ConfigurationKey<V>) -> V? {
        if text(key) == nil { note(key.name, "is needed and not set (\(key.flag) or \(key.name))") }
        return read(key)
    }

    /// The value of a key, or the contents of the file that another key names (white space at its ends does not count).
    ///
    /// Both at once are an issue: nobody can tell which is meant. The key's default counts where neither is set.
    public mutating func read(_ key: ConfigurationKey<String>, orFile fileKey: ConfigurationKey<String>) -> String? {
        guard text(fileKey) != nil else { return read(key) }
        guard !isSet(key) else {
            note(key.name, "is set, and \(fileKey.name) too: set one of them")
            return nil
        }
        guard let path = read(fileKey) else { return nil }
        guard let contents = SmallFile.contents(of: path), !contents.isEmpty else {
            note(fileKey.name, "names a file that is empty, not text, or larger than 64 KiB")
            return nil
        }
        return contents
    }

    /// Like ``read(_:orFile:)``, and neither is an issue.
    public mutating func require(_ key: ConfigurationKey<String>, orFile fileKey: ConfigurationKey<String>) -> String? {
        if text(key) == nil, text(fileKey) == nil {
            note(key.name, "is needed and not set (\(key.name) or \(fileKey.name))")
        }
        return read(key, orFile: fileKey)
    }

    /// Notes an issue that only the caller can see, for example two values that do not go together.
    public mutating func note(_ key: String, _ issue: String) {
        issues.append(ConfigurationIssue(key: key, problem: issue))
    }

    /// Whether a value was given by flag or environment, whatever it is.
    public func isSet(_ key: some ConfigurationKeyDescription) -> Bool {
        values.string(forKey: ConfigurationReader.key(key.name), isSecret: true) != nil
    }

    /// Takes the issues back to what they were.
    mutating func restore(_ issues: [ConfigurationIssue]) { self.issues = issues }

    /// Settings given by a flag whose value holds a password or key, which every user of the machine can read in the
    /// list of processes; and where to put it instead.
    ///
    /// - Parameter keys: the service's settings.
    public func exposedSecrets(_ keys: [any ConfigurationKeyDescription]) -> [ConfigurationIssue] {
        keys.filter(\.isSecret).compactMap { key in
            guard let value = flags[key.name], ConfigurationReader.holdsSecret(value) else { return nil }
            let file = keys.first { $0.name == key.name + "_FILE" }.map { " or \($0.name)" } ?? ""
            return ConfigurationIssue(
                key: key.name,
                problem: "\(key.flag) shows its secret in the list of processes: use the variable \(key.name)\(file)")
        }
    }

    /// A URL holds a secret where it has a password; any other secret value is one.
    private static func holdsSecret(_ value: String) -> Bool {
        guard let scheme = value.firstRange(of: "://") else {
            return !value.hasPrefix("sqlite:") && !value.hasPrefix("memory:")
        }
        if value.contains("password=") { return true }
        let rest = value[scheme.upperBound...]
        guard let at = rest.lastIndex(of: "@") else { return value.contains("SharedAccessKey=") }
        return rest[..<at].contains(":")
    }

    private func text(_ key: some ConfigurationKeyDescription) -> String? {
        values.string(forKey: ConfigurationReader.key(key.name), isSecret: true) ?? key.defaultValue
    }

    /// `HTTP_PORT` is the key `http.port`, which swift-configuration's environment spells `HTTP_PORT` again.
    private static func key(_ name: String) -> ConfigKey {
        ConfigKey(name.lowercased().split(separator: "_").map(String.init))
    }

    private func describe(_ key: some ConfigurationKeyDescription, _ text: String, _ problem: String) -> String {
        guard !key.isSecret else { return problem }
        let source = flags[key.name] == nil ? "" : " (from \(key.flag))"
        let shown = text.count > 60 ? text.prefix(57) + "..." : text[...]
        return "\(shown.debugDescription) \(problem)\(source)"
    }
}

/// One value that cannot be used.
public struct ConfigurationIssue: Hashable, Sendable, CustomStringConvertible {
    /// The key, as `HTTP_PORT`.
    public let key: String
    /// What is wrong with it, without the value where that is secret.
    public let problem: String

    /// One value of one key.
    public init(key: String, problem: String) {
        self.key = key
        self.problem = problem
    }

    public var description: String { "\(key): \(problem)" }
}

/// The configuration cannot be used: `ServiceMain` prints a line for each issue and exits with 78 (`EX_CONFIG`).
public struct ConfigurationError: Error, Sendable, CustomStringConvertible {
    /// At least one, in the order found.
    public let issues: [ConfigurationIssue]

    /// All that is wrong.
    public init(_ issues: [ConfigurationIssue]) {
        self.issues = issues
    }

    /// For a service's `build` that finds a value unusable only when it uses it.
    public init(_ key: String, _ problem: String) {
        issues = [ConfigurationIssue(key: key, problem: problem)]
    }

    public var description: String { issues.map(\.description).joined(separator: "\n") }
}

extension ConfigurationReader {
    /// Reads `HUB_PLATFORMS`: platforms for which there is a native form, at least one, each named once.
    ///
    /// - Returns: `nil` if it cannot be used; the reader holds the issue.
    public mutating func readPlatforms() -> [Platform]? {
        guard let platforms = read(ConfigurationKeys.hubPlatforms) else { return nil }
        let unknown = platforms.filter { !Platform.known.contains($0) }
        guard unknown.isEmpty else {
            let known = Platform.known.map(\.rawValue).joined(separator: ", ")
            let names = unknown.map(\.rawValue).joined(separator: ", ")
            note(ConfigurationKeys.hubPlatforms.name, "names \(names): a native form exists for \(known)")
            return nil
        }
        let repeated = Platform.known.filter { known in platforms.count { $0 == known } > 1 }
        guard repeated.isEmpty else {
            let names = repeated.map(\.rawValue).joined(separator: ", ")
            note(ConfigurationKeys.hubPlatforms.name, "names \(names) more than once: name each platform once")
            return nil
        }
        return platforms
    }
}
