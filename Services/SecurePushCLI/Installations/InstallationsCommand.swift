import ArgumentParser
import Logging
import NotificationHubs
import SecurePushCore
import ServiceLifecycle
import Storage

struct InstallationsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "installations", abstract: "Look after the devices' installations and registrations.",
        discussion: """
            EXAMPLES
              securepush installations refill --dry-run
              securepush installations refill --installations-only --json
            """,
        subcommands: [Refill.self])

    struct Refill: ConsoleCommand {
        static let configuration = CommandConfiguration(
            commandName: "refill",
            abstract: "Put all installations and registrations of the database into the hub.",
            discussion: """
                For a hub that was lost, or a new one: HUB_CONNECTION_STRING (or its file) and HUB_NAME say which. What
                is there already is overwritten by the same. A registration whose ID the hub does not take any more is
                listed: its device registers again at its next start. Exit codes: 0 all is there, 1 some failed, 69
                the hub or the database does not answer, 78 the settings cannot be used.

                EXAMPLES
                  securepush installations refill --dry-run
                  DATABASE_URL=postgres://db/securepush HUB_NAME=new-hub securepush installations refill
                """)

        enum Part: EnumerableFlag {
            case installationsOnly
            case registrationsOnly
        }

        @Flag(help: "Only the one kind.") var part: Part?

        @Flag(name: .customLong("dry-run"), help: "Count what there is; ask the hub nothing.")
        var isDryRun = false

        @Option(
            name: .customLong("database-url"),
            help: ArgumentHelp("sqlite:PATH, or a libpq URI without a password (DATABASE_URL).", valueName: "url"))
        var databaseURL: String?

        @OptionGroup(title: "Output") var output: OutputOptions

        var kinds: [RefillItem.Kind] {
            switch part {
            case .installationsOnly: [.installation]
            case .registrationsOnly: [.registration]
            case nil: RefillItem.Kind.allCases
            }
        }

        func run(on console: Console) async throws {
            let devices = try await RefillDevices(
                databaseURL: databaseURL ?? Migrations.url(), hub: isDryRun ? nil : Settings().hub())
            let report = try await devices.run(kinds, showsProgress: !console.isJSON)
            for failure in report.failures {
                try console.show(failure, "\(failure.kind.rawValue) \(failure.id.printable): \(failure.reason)")
            }
            try console.show(report, report.summary)
            if !report.failures.isEmpty { throw CommandFailure.Code.failed.exitCode }
        }
    }
}

extension CommandFailure.Code {
    fileprivate var exitCode: ExitCode { ExitCode(rawValue) }
}
