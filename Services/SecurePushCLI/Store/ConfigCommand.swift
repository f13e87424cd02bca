import AMQP
import ArgumentParser
import Authentication
import Foundation
import Messaging
import NotificationHubs
import ServiceConfiguration
import ServiceRuntime
import Storage

struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Show the settings that take effect, and what is wrong with them.",
        discussion: """
            EXAMPLES
              securepush config show
              securepush config show --service dispatcher
            """,
        subcommands: [Show.self])

    struct Show: ConsoleCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show each setting's value and where it comes from; secrets stay hidden.",
            discussion: """
                Reads the environment as the services do. With --service only what that one uses, and what it needs and
                is not set is a problem too. Flags that a service is started with are not known here. Exit codes: 0 all
                can be used, 78 some value cannot.

                EXAMPLES
                  securepush config show
                  securepush config show --service ingest --json
                  docker compose run --rm cli config show --service dispatcher
                """)

        @Option(help: "Only this service's settings.")
        var service: ConfigService?

        @OptionGroup(title: "Output") var output: OutputOptions

        func run(on console: Console) async throws {
            let (entries, problems) = Show.settings(of: service, ProcessInfo.processInfo.environment)
            if console.isJSON {
                for entry in entries { try console.show(entry, "") }
            } else {
                for line in Show.lines(entries) { console.line(line) }
            }
            guard problems.isEmpty else {
                throw CommandFailure(
                    .configuration, "Some settings cannot be used.", details: problems.map(\.printable),
                    hint: "docs/configuration.md tells what each may be.")
            }
        }

        /// - Returns: the entries, and a line for each problem.
        static func settings(
            of service: ConfigService?, _ environment: [String: String]
        ) -> (entries: [ConfigEntry], problems: [String]) {
            var reader = ConfigurationReader(environment: environment)
            if let service { service.check(&reader) } else { ConfigService.allCases.forEach { $0.check(&reader) } }
            // Without a service nothing is needed, for nobody knows of what.
            // Several services say the same of the keys that they share.
            var told: Set<ConfigurationIssue> = []
            let issues = reader.issues.filter { issue in
                (service != nil || !(environment[issue.key] ?? "").isEmpty) && told.insert(issue).inserted
            }
            let entries = (service?.keys ?? ConfigurationKeys.all).map { key in
                ConfigEntry(key, environment: environment, issues: issues)
            }
            return (entries, entries.flatMap { entry in entry.Problems.map { "\(entry.Key): \($0)" } })
        }

        static func lines(_ entries: [ConfigEntry]) -> [String] {
            var table = TextTable(isOfWords: true)
            table.add(["KEY", "ORIGIN", "VALUE"])
            for entry in entries {
                let value = entry.Value?.oneLine ?? "-"
                let problems = entry.Problems.isEmpty ? "" : "  <- " + entry.Problems.joined(separator: "; ").oneLine
                table.add([entry.Key, entry.Origin.rawValue, value + problems])
            }
            return table.lines
        }
    }
}

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

/// A service whose settings can be shown. Each reads them as the service does, so that what is wrong is told in the
/// same words; a test compares the keys with the services' own `--help`.
enum ConfigService: String, CaseIterable, Sendable, ExpressibleByArgument {
    case ingest
    case retrieval
    case dispatcher

    var keys: [any ConfigurationKeyDescription] {
        let logging: [any ConfigurationKeyDescription] = [ConfigurationKeys.logLevel, ConfigurationKeys.logFormat]
        var names = Set<String>()
        return (HTTPConfiguration.keys(defaultPort: defaultPort) + StorageConfiguration.keys + ownKeys + logging)
            .filter { names.insert($0.name).inserted }
    }

    private var defaultPort: Int {
        switch self {
        case .ingest: 8080
        case .retrieval: 8081
        case .dispatcher: 8082
        }
    }

    private var ownKeys: [any ConfigurationKeyDescription] {
        switch self {
        case .ingest:
            return MessagingConfiguration.keys
                + [ConfigurationKeys.payloadKeysFile, ConfigurationKeys.ingestAPIKeysFile]
                + UserAuthenticationConfiguration.verifyingKeys
                + [ConfigurationKeys.hubPlatforms, ConfigurationKeys.retention]
        case .retrieval:
            return [ConfigurationKeys.payloadKeysFile] + UserAuthenticationConfiguration.keys
                + NotificationHubConfiguration.keys
        case .dispatcher:
            return MessagingConfiguration.keys + NotificationHubConfiguration.keys + [
                ConfigurationKeys.hubPlatforms, ConfigurationKeys.dispatchPrefetch,
                ConfigurationKeys.dispatchConcurrency, ConfigurationKeys.dispatchMaxAttempts,
                ConfigurationKeys.dispatchRegisteredOnly,
            ]
        }
    }

    /// Reads everything as the service does at its start; the reader notes what is wrong.
    func check(_ reader: inout ConfigurationReader) {
        _ = HTTPConfiguration.read(&reader, defaultPort: defaultPort, isAPI: self != .dispatcher)
        _ = StorageConfiguration.read(&reader)
        _ = reader.read(ConfigurationKeys.logLevel)
        _ = reader.read(ConfigurationKeys.logFormat)
        switch self {
        case .ingest: checkIngest(&reader)
        case .retrieval: checkRetrieval(&reader)
        case .dispatcher: checkDispatcher(&reader)
        }
    }

    private func checkIngest(_ reader: inout ConfigurationReader) {
        _ = MessagingConfiguration.read(&reader, prefetch: 1, connectionName: "securepush config")
        _ = reader.require(ConfigurationKeys.payloadKeysFile)
        _ = reader.require(ConfigurationKeys.ingestAPIKeysFile)
        _ = UserAuthenticationConfiguration.read(&reader)
        _ = reader.readPlatforms()
        _ = reader.read(ConfigurationKeys.retention)
    }

    private func checkRetrieval(_ reader: inout ConfigurationReader) {
        _ = reader.require(ConfigurationKeys.payloadKeysFile)
        if let users = UserAuthenticationConfiguration.read(&reader), !users.isUsable {
            reader.note(
                ConfigurationKeys.authJWKSFile.name,
                "is not set, and neither is another AUTH_ key: no user could be authenticated")
        }
        if NotificationHubConfiguration.isConfigured(reader) { _ = NotificationHubConfiguration.read(&reader) }
    }

    private func checkDispatcher(_ reader: inout ConfigurationReader) {
        let prefetch = reader.read(ConfigurationKeys.dispatchPrefetch)
        _ = MessagingConfiguration.read(&reader, prefetch: prefetch ?? 1, connectionName: "securepush config")
        _ = NotificationHubConfiguration.read(&reader)
        _ = reader.readPlatforms()
        _ = reader.read(ConfigurationKeys.dispatchConcurrency)
        _ = reader.read(ConfigurationKeys.dispatchMaxAttempts)
        _ = reader.read(ConfigurationKeys.dispatchRegisteredOnly)
    }
}
