import AMQP
import ServiceConfiguration
import Storage

/// One setting as it takes effect.
struct ConfigEntry: Encodable, Sendable, Equatable {
    enum Source: String, Encodable, Sendable {
        case environment
        case standard = "default"
        /// Neither set nor with a default.
        case none
    }

    var Key: String
    /// `nil` where there is none. Of a secret at most what is public of it, such as a URL's host.
    var Value: String?
    var Origin: Source
    /// Whether the value is a secret, and so not shown or only in part.
    var Secret: Bool
    var Problems: [String]

    init(_ key: any ConfigurationKeyDescription, environment: [String: String], issues: [ConfigurationIssue]) {
        let given = environment[key.name].flatMap { $0.isEmpty ? nil : $0 }
        Key = key.name
        Origin = given != nil ? .environment : key.defaultText != nil ? .standard : .none
        Secret = key.isSecret
        Value = (given ?? key.defaultValue).map { key.isSecret ? ConfigEntry.publicPart(of: $0, key.name) : $0 }
        if given == nil, key.defaultValue == nil { Value = key.defaultText }
        var problems = issues.filter { $0.key == key.name }.map(\.problem)
        if let given, let problem = key.problem(with: given), !problems.contains(where: { $0.contains(problem) }) {
            problems.append(problem)
        }
        Problems = problems
    }

    static let hidden = "(hidden)"

    /// What of a secret value is no secret: where a database or a broker is.
    private static func publicPart(of value: String, _ name: String) -> String {
        switch name {
        case ConfigurationKeys.databaseURL.name:
            (try? StorageConfiguration(url: value))?.description ?? hidden
        case ConfigurationKeys.amqpURL.name:
            (try? AMQPConfiguration(url: value, connectionName: "securepush config"))?.endpoints ?? hidden
        default: hidden
        }
    }
}
