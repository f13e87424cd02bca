package import Domain
import Foundations

/// One value that cannot be used.
package struct ConfigurationIssue: Hashable, Sendable, CustomStringConvertible {
    package let key: String
    /// The reason, without the value if that is secret.
    package let problem: String

    package var description: String { "\(key): \(problem)" }

    /// A key as a flag: `--http-port` for `HTTP_PORT`.
    static func flag(of key: String) -> String { "--" + key.lowercased().replacing("_", with: "-") }
}

/// The configuration cannot be used. `ServiceMain` prints one line per issue and exits with 78 (`EX_CONFIG`).
package struct ConfigurationError: Error, Sendable, CustomStringConvertible {
    /// At least one, in the order found.
    package let issues: [ConfigurationIssue]

    package init(_ issues: [ConfigurationIssue]) {
        self.issues = issues
    }

    /// One issue, for a service's `build` that finds a value invalid only when it uses it.
    package init(_ key: String, _ problem: String) {
        issues = [ConfigurationIssue(key: key, problem: problem)]
    }

    package var description: String { issues.map(\.description).joined(separator: "\n") }
}

/// Looks settings up on the command line, then in the environment, then in the defaults. It collects the issues, so
/// that a person sees all mistakes at once.
///
/// An empty text counts as absent. Blanks, line ends and invisible characters at both ends of a text are ignored,
/// wherever it comes from. A control character inside is an issue: nobody sees it, and a path or a password with one is
/// another path or password.
///
/// It does not use swift-configuration. That library's accessors report one error at a time, and its providers know
/// neither which keys exist nor what they mean. Only the lookup in two dictionaries would be left of it.
package struct ConfigurationReader: Sendable {
    package private(set) var issues: [ConfigurationIssue] = []

    /// The keys that were read, in this order. Those of an empty environment are the settings of a service.
    package private(set) var keys: [any ConfigurationKeyDescription] = []

    private let flags: [String: String]
    /// The keys of the files that values came from, by the key of the value.
    private var files: [String: String] = [:]
    /// Holds all variables of the process.
    package let environment: SettingsEnvironment

    /// - Parameter flags: the values of the command line by key name (`HTTP_PORT`).
    package init(flags: [String: String] = [:], environment: [String: String]) {
        self.init(flags: flags, environment: SettingsEnvironment(environment))
    }

    package init(flags: [String: String] = [:], environment: SettingsEnvironment) {
        self.flags = flags.mapValues { OutsideText.trimmed($0) }
        self.environment = environment
    }

    /// The keys that a part of a service reads: it is run on an empty environment.
    package static func keys(_ read: (inout ConfigurationReader) -> Void) -> [any ConfigurationKeyDescription] {
        var reader = ConfigurationReader(environment: [:])
        read(&reader)
        return reader.keys
    }

    /// The value of a key. If it is absent or invalid, the key's fallback; an invalid value is noted.
    package subscript<Value>(key: ConfigurationKey<Value>) -> Value {
        mutating get {
            declare(key)
            if (flags[key.name] ?? "").isEmpty, let conflict = environment.conflict(of: key.name) {
                note(conflict.key, conflict.problem)
                return key.fallback
            }
            guard let text = given(key.name) else { return key.fallback }
            if let problem = Self.pasteProblem(of: text, as: key.name) {
                note(key.name, problem)
                return key.fallback
            }
            do {
                return try key.parser.parse(text)
            } catch {
                note(key.name, describe(key, text, error.problem))
                return key.fallback
            }
        }
    }

    package subscript<Value>(key: KeyPath<ConfigurationKeys, ConfigurationKey<Value>>) -> Value {
        mutating get { self[ConfigurationKeys.shared[keyPath: key]] }
    }

    /// The value of a key, or the contents of the file that another key names, without white space at the ends.
    ///
    /// If both are set, that is noted, because it is not clear which one is meant.
    package subscript<Value>(key: ConfigurationKey<Value>, orFile fileKey: ConfigurationKey<String?>) -> Value {
        mutating get {
            declare(key)
            declare(fileKey)
            guard isSet(fileKey) else { return self[key] }
            guard !isSet(key) else {
                note(key.name, "is set, and \(fileKey.name) too: set one of them")
                return key.fallback
            }
            guard let path = self[fileKey] else { return key.fallback }
            guard let contents = (try? FileContent(path: path, maxBytes: 65_536))?.trimmedText, !contents.isEmpty else {
                note(fileKey.name, "names a file that is empty, not text, or larger than 64 KiB")
                return key.fallback
            }
            files[key.name] = fileKey.name
            if let problem = Self.pasteProblem(of: contents, as: key.name) {
                note(fileKey.name, "names a file whose text \(problem)")
                return key.fallback
            }
            do {
                return try key.parser.parse(contents)
            } catch {
                note(fileKey.name, "names a file whose text \(error.problem)")
                return key.fallback
            }
        }
    }

    package subscript<Value>(
        key: KeyPath<ConfigurationKeys, ConfigurationKey<Value>>,
        orFile fileKey: KeyPath<ConfigurationKeys, ConfigurationKey<String?>>
    ) -> Value {
        mutating get {
            self[ConfigurationKeys.shared[keyPath: key], orFile: ConfigurationKeys.shared[keyPath: fileKey]]
        }
    }

    /// The problem of a value with a control character inside, without the value; `nil` for any other.
    package static func controlProblem(of text: String) -> String? {
        OutsideText.controlCharacter(in: text).map {
            "has a control character inside (\(OutsideText.name(of: $0))): remove it"
        }
    }

    /// The problem of a value that was not copied as it is, without the value; `nil` for any other: it has a control
    /// character inside, or quotation marks or its own name around it, as in other programs' files of settings.
    ///
    /// - Parameter name: the short name of the setting.
    package static func pasteProblem(of text: String, as name: String) -> String? {
        if let problem = controlProblem(of: text) { return problem }
        if OutsideText.marks(around: text) == 2 {
            return "is in quotation marks, which are a part of the value here: remove them"
        }
        let names = [name, SettingsEnvironment.prefix + name].flatMap { [$0, "export " + $0] }
        guard let start = names.first(where: { text.hasPrefix($0 + "=") }) else { return nil }
        return "begins with \(start)=, which is a part of the value here: remove that"
    }

    /// The value of a key, or of the file that another key names. If neither is set, that is noted.
    ///
    /// - Parameter isNeeded: whether it must be set.
    package mutating func require(
        _ key: KeyPath<ConfigurationKeys, ConfigurationKey<String?>>,
        orFile fileKey: KeyPath<ConfigurationKeys, ConfigurationKey<String?>>? = nil, if isNeeded: Bool = true
    ) -> String? {
        let key = ConfigurationKeys.shared[keyPath: key]
        guard let file = fileKey.map({ ConfigurationKeys.shared[keyPath: $0] }) else {
            if isNeeded, !isSet(key) { note(key.name, "is needed and not set (\(key.flag) or \(key.name))") }
            return self[key]
        }
        if isNeeded, !isSet(key), !isSet(file) {
            note(key.name, "is needed and not set (\(key.name) or \(file.name))")
        }
        return self[key, orFile: file]
    }

    /// `HUB_PLATFORMS`: at least one platform with a native form, each named once.
    package mutating func platforms() -> [Platform] {
        let key = ConfigurationKeys.hubPlatforms
        let platforms = self[key]
        let unknown = platforms.filter { !Platform.known.contains($0) }
        let repeated = Platform.known.filter { known in platforms.count { $0 == known } > 1 }
        func names(_ platforms: [Platform]) -> String { platforms.map(\.rawValue).joined(separator: ", ") }
        if !unknown.isEmpty {
            note(key.name, "names \(names(unknown)): a native form exists for \(names(Platform.known))")
        } else if !repeated.isEmpty {
            note(key.name, "names \(names(repeated)) more than once: name each platform once")
        }
        return platforms
    }

    /// Notes an issue that only the caller can find, for example two values that contradict each other. An issue is
    /// noted once, however many parts of a service read its key.
    package mutating func note(_ key: String, _ problem: String) {
        let issue = located(ConfigurationIssue(key: key, problem: problem))
        if !issues.contains(issue) { issues.append(issue) }
    }

    /// An issue of a setting that was read here, under the name that is set: the key of its file, or with the flag or
    /// the longer variable.
    package func located(_ issue: ConfigurationIssue) -> ConfigurationIssue {
        let key = files[issue.key] ?? issue.key
        let source =
            if flags[key]?.isEmpty == false { ConfigurationIssue.flag(of: key) } else {
                environment.variable(of: key) ?? key
            }
        guard source != key else { return ConfigurationIssue(key: key, problem: issue.problem) }
        let sentence = issue.problem.hasSuffix(".") ? issue.problem.dropLast() : issue.problem[...]
        return ConfigurationIssue(key: key, problem: "\(sentence) (from \(source))")
    }

    /// An issue of one of the settings of all services.
    package mutating func note<Value>(
        _ key: KeyPath<ConfigurationKeys, ConfigurationKey<Value>>, _ problem: String
    ) { note(ConfigurationKeys.shared[keyPath: key].name, problem) }

    /// Whether a flag or the environment has a value for the key, valid or not.
    package func isSet(_ key: some ConfigurationKeyDescription) -> Bool { given(key.name) != nil }

    package func isSet<Value>(_ key: KeyPath<ConfigurationKeys, ConfigurationKey<Value>>) -> Bool {
        isSet(ConfigurationKeys.shared[keyPath: key])
    }

    /// Whether `ALLOW_INSECURE` names this kind of connection.
    package mutating func allows(_ link: InsecureLink) -> Bool {
        (self[\.allowInsecure] ?? []).contains(link)
    }

    /// Notes hosts beyond this machine that a setting reaches without protection, unless `ALLOW_INSECURE` allows it.
    ///
    /// - Parameters:
    ///   - hosts: those that are neither local nor protected; without credentials.
    ///   - remedy: the secure form, for example `use amqps://`.
    package mutating func refuse<Value>(
        _ hosts: [String], of key: KeyPath<ConfigurationKeys, ConfigurationKey<Value>>, as link: InsecureLink,
        remedy: String
    ) {
        guard !hosts.isEmpty, !allows(link) else { return }
        note(
            key,
            "\(hosts.joined(separator: ", ")) beyond this machine without verified TLS: \(remedy), "
                + "or set ALLOW_INSECURE=\(link.rawValue)")
    }

    /// The flags whose values contain a password or key, and where to put these instead. Every user of the machine can
    /// read flags in the list of processes.
    package func exposedSecrets(_ keys: [any ConfigurationKeyDescription]) -> [ConfigurationIssue] {
        keys.filter(\.isSecret).compactMap { key in
            guard let value = flags[key.name], ConfigurationReader.containsSecret(value) else { return nil }
            let file = keys.first { $0.name == key.name + "_FILE" }.map { " or \($0.name)" } ?? ""
            return ConfigurationIssue(
                key: key.name,
                problem: "\(key.flag) shows its secret in the list of processes: use the variable \(key.name)\(file)")
        }
    }

    /// The files of secrets that other users of the machine can access.
    package func openFiles(_ keys: [any ConfigurationKeyDescription]) -> [ConfigurationIssue] {
        let secrets = keys.filter(\.isSecret).map { $0.name + "_FILE" } + ConfigurationKeys.secretFiles
        return keys.compactMap { key in
            guard secrets.contains(key.name), let path = given(key.name),
                let problem = FileContent.privacyProblem(ofFile: path)
            else { return nil }
            return ConfigurationIssue(key: key.name, problem: "\(path): \(problem)")
        }
    }

    /// A URL contains a secret if it has a password. Any other value of a secret key is one.
    private static func containsSecret(_ value: String) -> Bool {
        guard !value.isEmpty else { return false }
        guard let scheme = value.firstRange(of: "://") else {
            return !value.hasPrefix("sqlite:") && !value.hasPrefix("memory:")
        }
        if value.contains("password=") { return true }
        let rest = value[scheme.upperBound...]
        guard let at = rest.lastIndex(of: "@") else { return value.contains("SharedAccessKey=") }
        return rest[..<at].contains(":")
    }

    /// The variables that begin with `SECUREPUSH_` and are no setting; see ``SettingsEnvironment/unknown(besides:)``.
    /// For a program that is traced, those of OpenTelemetry that it does not read, too.
    package func unknownVariables(_ keys: [any ConfigurationKeyDescription]) -> [ConfigurationIssue] {
        let names = keys.map(\.name)
        let isTraced = names.contains(ConfigurationKeys.tracesExporter.name)
        return environment.unknown(besides: names) + (isTraced ? environment.unreadTelemetry(besides: names) : [])
    }

    private func given(_ name: String) -> String? {
        [flags[name], environment[name]].compactMap(\.self).first { !$0.isEmpty }
    }

    private mutating func declare(_ key: any ConfigurationKeyDescription) {
        if !keys.contains(where: { $0.name == key.name }) { keys.append(key) }
    }

    private func describe(_ key: some ConfigurationKeyDescription, _ text: String, _ problem: String) -> String {
        guard !key.isSecret else { return problem }
        return "\(Self.shown(text, isURL: key.isURL)) \(problem)"
    }

    /// The value of a setting that is not secret, for messages. Of a URL only the public part: people put passwords and
    /// signatures into URLs of every kind. Anything else with an `@` or a `?` may be a URL without its scheme.
    private static func shown(_ text: String, isURL: Bool) -> String {
        if isURL || text.contains("://") { return PublicURL.describe(text).debugDescription }
        if text.utf8.contains(where: { $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: "?") }) { return "the value" }
        return (text.count > 60 ? text.prefix(57) + "..." : text[...]).debugDescription
    }
}
