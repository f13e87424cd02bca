import Foundations

/// The settings in an environment. Each setting is accepted as `NAME` and as `SECUREPUSH_NAME`.
///
/// The longer name is for environments that other programs share, where `RETENTION` could be anybody's. The variables
/// of proxies are also read in lower case, as other programs do.
package struct SettingsEnvironment: Sendable {
    /// What a longer name begins with.
    package static let prefix = "SECUREPUSH_"

    /// The values that are not empty, by the short name, without blanks and line ends around them. These are all
    /// variables of the process, not only settings.
    package let values: [String: String]

    /// The variables whose values are in ``values``, by the short name, where they have another name than that.
    private let sources: [String: String]
    /// The short names of settings that have two different values.
    private let conflicts: Set<String>
    /// The long names that are set.
    private let prefixed: [String]

    package init(_ environment: [String: String]) {
        let environment = environment.mapValues { OutsideText.trimmed($0) }
        var values = environment.filter { !$0.value.isEmpty && !$0.key.hasPrefix(Self.prefix) }
        var sources: [String: String] = [:]
        var conflicts: Set<String> = []
        var prefixed: [String] = []
        for (variable, value) in environment where !value.isEmpty && variable.hasPrefix(Self.prefix) {
            guard !Self.isServiceLink(variable, value) else { continue }
            let name = String(variable.dropFirst(Self.prefix.count))
            prefixed.append(variable)
            if let other = environment[name], !other.isEmpty {
                if !OutsideText.areSame(other, value) { conflicts.insert(name) }
            } else {
                values[name] = value
                sources[name] = variable
            }
        }
        for name in Self.lowerCaseToo where values[name] == nil {
            guard let value = environment[name.lowercased()], !value.isEmpty else { continue }
            values[name] = value
            sources[name] = name.lowercased()
        }
        self.values = values
        self.sources = sources
        self.conflicts = conflicts
        self.prefixed = prefixed.sorted()
    }

    /// The value of a setting; `nil` if it is not set or empty.
    package subscript(name: String) -> String? { values[name] }

    /// The variable that a setting's value comes from: `RETENTION` or `SECUREPUSH_RETENTION`; `nil` if it is not set.
    package func variable(of name: String) -> String? { values[name] == nil ? nil : sources[name] ?? name }

    /// The issue of a setting whose two variables differ; `nil` for any other. It does not show the values.
    package func conflict(of name: String) -> ConfigurationIssue? {
        guard conflicts.contains(name) else { return nil }
        return ConfigurationIssue(
            key: name, problem: "\(name) and \(Self.prefix + name) are set to different values: set one of them")
    }

    /// The issues of settings that were not copied as they are, without their values: see
    /// ``ConfigurationReader/pasteProblem(of:as:)``.
    package func pasteProblems(of names: [String]) -> [ConfigurationIssue] {
        names.compactMap { name in
            guard let problem = values[name].flatMap({ ConfigurationReader.pasteProblem(of: $0, as: name) }) else {
                return nil
            }
            return ConfigurationIssue(key: variable(of: name) ?? name, problem: problem)
        }
    }

    package func conflicts(of names: [String]) -> [ConfigurationIssue] { names.compactMap(conflict(of:)) }

    /// The variables of OpenTelemetry that are not read, with the one that may be meant; without their values. Turning
    /// off a signal that there is not is no issue.
    ///
    /// - Parameter names: the settings of this program.
    func unreadTelemetry(besides names: [String]) -> [ConfigurationIssue] {
        let known = names.filter { $0.hasPrefix(Self.telemetryPrefix) }
        return values.keys.filter { $0.hasPrefix(Self.telemetryPrefix) && !known.contains($0) }.sorted().compactMap {
            if $0.hasSuffix("_EXPORTER"), values[$0] == "none" { return nil }
            let meant = NameSuggestion.closest(to: $0, in: known).map { ": is \($0) meant?" } ?? ""
            return ConfigurationIssue(key: $0, problem: "\($0) is set and not read here\(meant)")
        }
    }

    /// The variables that begin with `SECUREPUSH_` and are no setting, with the setting that may be meant. Without
    /// their values, which may be secrets.
    ///
    /// - Parameter names: the settings of this program besides ``ConfigurationKeys/all``.
    package func unknown(besides names: [String] = []) -> [ConfigurationIssue] {
        let known = Self.shared + names
        let isEmulator = names.contains { $0.hasPrefix(Self.emulatorPrefix) }
        return prefixed.compactMap { variable in
            let name = String(variable.dropFirst(Self.prefix.count))
            guard !known.contains(name), !Self.isForOthers(name, isEmulator: isEmulator) else { return nil }
            let meant = NameSuggestion.closest(to: name, in: known).map { ": is \(Self.prefix + $0) meant?" } ?? ""
            return ConfigurationIssue(key: variable, problem: "\(variable) is not a setting\(meant)")
        }
    }
}

extension SettingsEnvironment {
    /// The names of all settings that services and the command line share.
    package static let shared = ConfigurationKeys.all.map(\.name) + commandVariables

    /// The variables of the command line `securepush`, which no service reads.
    private static let commandVariables = [
        "INGEST_API_KEY", "INGEST_API_KEY_FILE", "RETRIEVAL_TOKEN", "RETRIEVAL_TOKEN_FILE", "HUB_EMULATOR_URL",
    ]

    /// Variables that other programs write in lower case.
    private static let lowerCaseToo = ["HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY"]

    /// The variables of scripts, builds and tests.
    private static let houseNames: Set<String> = [
        "BENCHMARKS", "BIN", "FORGERIES", "REVISION", "STATIC", "TOOLS", "VECTORS",
    ]

    private static let emulatorPrefix = "EMULATOR_"
    private static let telemetryPrefix = "OTEL_"

    /// Whether a variable is none of a program's business: a script's, a test's, or the emulator's in an environment
    /// that it shares with the services.
    private static func isForOthers(_ name: String, isEmulator: Bool) -> Bool {
        houseNames.contains(name) || name.hasPrefix("TEST_") || name.hasPrefix(emulatorPrefix) && !isEmulator
    }

    /// Whether Kubernetes has set a variable for a Service object, as `SECUREPUSH_INGEST_PORT=tcp://10.0.0.1:8080` for
    /// one named `securepush-ingest` (Kubernetes: "Accessing the Service", environment variables).
    private static func isServiceLink(_ variable: String, _ value: String) -> Bool {
        if variable.hasSuffix("_SERVICE_HOST") || variable.contains("_SERVICE_PORT") { return true }
        if variable.hasSuffix("_PORT") { return ["tcp://", "udp://", "sctp://"].contains { value.hasPrefix($0) } }
        // ..._PORT_8080_TCP, and the same with _PROTO, _PORT or _ADDR.
        let words = variable.split(separator: "_")
        guard let transport = words.lastIndex(where: { ["TCP", "UDP", "SCTP"].contains($0) }), transport > 1 else {
            return false
        }
        return words[transport - 2] == "PORT" && ByteSet.digits.containsAll(words[transport - 1])
    }
}
