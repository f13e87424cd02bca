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
