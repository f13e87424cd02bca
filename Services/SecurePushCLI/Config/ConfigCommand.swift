import ArgumentParser
import Foundation
import ServiceConfiguration

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
