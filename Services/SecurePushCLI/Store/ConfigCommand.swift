import ArgumentParser
import Dispatcher
import Foundation
import Foundations
import Hub
import Ingest
import Operator
import OutgoingHTTP
import Retrieval
import ServiceConfiguration
import ServiceRuntime

struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Show the settings in effect, and which are invalid.",
        discussion: """
            EXAMPLES
              securepush config show
              securepush config show --service dispatcher
            """,
        subcommands: [Show.self])

    struct Show: ConsoleCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the value and the origin of each setting. Hides secrets.",
            discussion: """
                Reads the environment like the services. With --service it shows only the settings of that service and \
                also reports required settings that are not set. It does not see the flags of a service's command \
                line. Exit codes: 0 all settings are valid, 78 some are invalid.

                EXAMPLES
                  securepush config show
                  securepush config show --service ingest --json
                  docker compose run --rm cli config show --service dispatcher
                """)

        @Option(help: "Only the settings of this service.")
        var service: ConfigService?

        @OptionGroup(title: "Output") var output: OutputOptions

        func run(on console: Console) async throws {
            let (entries, problems) = Show.settings(of: service, ProcessInfo.processInfo.environment)
            if console.isJSON {
                for entry in entries { try console.show(entry, "") }
            } else {
                for line in Show.lines(entries) { try console.line(line) }
            }
            guard problems.isEmpty else {
                throw CommandFailure(
                    .configuration, "Some settings are invalid.", details: problems.map(\.printable),
                    hint: "docs/reference/configuration.md describes the settings.")
            }
        }

        /// - Returns: the entries, and one line per problem.
        static func settings(
            of service: ConfigService?, _ environment: [String: String]
        ) -> (entries: [ConfigEntry], problems: [String]) {
            let named = SettingsEnvironment(environment)
            var reader = ConfigurationReader(environment: named)
            if let service { service.check(&reader) } else { ConfigService.allCases.forEach { $0.check(&reader) } }
            // Without a service, no setting is required. Services that share a setting report the same issue.
            var seen: Set<ConfigurationIssue> = []
            let issues = reader.issues.filter { issue in
                (service != nil || named[issue.key] != nil) && seen.insert(issue).inserted
            }
            let entries = (service?.keys ?? ConfigurationKeys.all).map { key in
                ConfigEntry(key, environment: named, issues: issues)
            }
            return (entries, entries.flatMap { entry in entry.problems.map { "\(entry.key): \($0)" } })
        }

        static func lines(_ entries: [ConfigEntry]) -> [String] {
            var table = Table<ConfigEntry>([
                Column("KEY") { $0.key },
                Column("ORIGIN") { $0.variable == $0.key ? $0.origin.rawValue : $0.variable ?? $0.origin.rawValue },
                Column("VALUE") { entry in
                    (entry.value ?? "-")
                        + (entry.problems.isEmpty ? "" : "  <- " + entry.problems.joined(separator: "; "))
                },
            ])
            return table.lines(entries)
        }
    }
}

struct ConfigEntry: Encodable, Sendable, Equatable {
    enum Source: String, Encodable, Sendable {
        case environment
        case standard = "default"
        /// Not set, and without a default.
        case none
    }

    var key: String
    /// `nil` if there is none. Of a secret only the public part, such as the host of a URL.
    var value: String?
    var origin: Source
    /// The variable of the value, such as `RETENTION` or `SECUREPUSH_RETENTION`; `nil` if none is set.
    var variable: String?
    /// Whether the value is a secret and therefore hidden.
    var secret: Bool
    var problems: [String]

    init(
        _ description: any ConfigurationKeyDescription, environment: SettingsEnvironment,
        issues: [ConfigurationIssue]
    ) {
        let given = environment[description.name]
        key = description.name
        origin = given != nil ? .environment : description.defaultText != nil ? .standard : .none
        variable = environment.variable(of: description.name)
        secret = description.isSecret
        let name = description.name
        let (isSecret, isURL) = (description.isSecret, description.isURL)
        value = (given ?? description.defaultValue).map { value in
            if isSecret { return ConfigEntry.publicPart(of: value, name) }
            // People put passwords and signatures into URLs of every kind, and into those without a scheme.
            return isURL || value.contains("://") ? PublicURL.describe(value) : value
        }
        if given == nil, description.defaultValue == nil { value = description.defaultText }
        problems = issues.filter { $0.key == name }.map(\.problem)
        let problem = given.flatMap {
            ConfigurationReader.pasteProblem(of: $0, as: name) ?? description.problem(with: $0)
        }
        if let problem, !problems.contains(where: { $0.contains(problem) }) { problems.append(problem) }
    }

    private static let hidden = "(hidden)"

    /// The public part of a secret: the address of a database, broker or proxy.
    private static func publicPart(of value: String, _ name: String) -> String {
        switch name {
        case ConfigurationKeys.databaseURL.name, ConfigurationKeys.amqpURL.name:
            value.hasPrefix("sqlite:") || value == "memory:" ? value : PublicURL.describe(value)
        case ConfigurationKeys.httpsProxy.name, ConfigurationKeys.httpProxy.name:
            value.contains("://") ? PublicURL.describe(value) : (try? OutgoingProxy(value))?.description ?? hidden
        default: hidden
        }
    }
}

/// A service whose settings can be shown.
enum ConfigService: String, CaseIterable, Sendable, ExpressibleByArgument {
    case ingest
    case retrieval
    case dispatcher
    case `operator`
    case hub

    private var program: any ServiceProgram.Type {
        switch self {
        case .ingest: IngestService.self
        case .retrieval: RetrievalService.self
        case .dispatcher: DispatcherService.self
        case .operator: OperatorService.self
        case .hub: HubService.self
        }
    }

    var keys: [any ConfigurationKeyDescription] { program.keys }

    /// Reads all settings like the service does when it starts. The reader collects the errors.
    func check(_ reader: inout ConfigurationReader) {
        func readAll<Program: ServiceProgram>(of program: Program.Type) { program.readAll(&reader) }
        readAll(of: program)
    }
}
