import ArgumentParser
import Domain

struct InstallationsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "installations", abstract: "Manage the devices' installations and registrations.",
        discussion: """
            EXAMPLES
              securepush installations list --user alice
              securepush installations export > devices.ndjson
              securepush installations refill --dry-run
              securepush installations refill --installations-only --json
            """,
        subcommands: [List.self, Export.self, Refill.self])

    struct Refill: AuditedCommand {
        static let configuration = CommandConfiguration(
            commandName: "refill",
            abstract: "Write all installations and registrations of the database to the hub.",
            discussion: """
                Use it after the loss of a hub, or for a new hub. HUB_CONNECTION_STRING (or its file) and HUB_NAME \
                give the hub. With HUB_POOL_FILE each device is written to its user's hub, and removed at the other \
                hubs where it may be. Running it again does no harm. The command lists registrations whose ID the hub \
                does not accept any more; their devices register again when the app starts next. Exit codes: 0 all \
                written, 1 some failed, 69 the hub or the database does not answer, 78 invalid settings.

                EXAMPLES
                  securepush installations refill --dry-run
                  DATABASE_URL=postgres://db/securepush HUB_NAME=new-hub \\
                      securepush installations refill
                """)

        enum Part: EnumerableFlag {
            case installationsOnly
            case registrationsOnly
        }

        @Flag(help: "Write only this kind.") var part: Part?

        @Flag(name: .customLong("dry-run"), help: "Only count the rows, without requests to the hub.")
        var isDryRun = false

        @OptionGroup var database: DatabaseOptions
        @OptionGroup(title: "Output") var output: OutputOptions

        var audited: Audited? { isDryRun ? nil : ("installations.refill", nil) }

        var kinds: [DeviceLease.Kind] {
            switch part {
            case .installationsOnly: [.installation]
            case .registrationsOnly: [.registration]
            case nil: DeviceLease.Kind.allCases
            }
        }

        func run(on console: Console) async throws {
            let report = try await HubRefill.run(
                kinds, databaseURL: database.url, hubs: isDryRun ? nil : Settings().hubs(), line: ProgressLine(console))
            try report.failures.show(on: console)
            try console.show(report, report.summary)
            if report.failures.count > 0 { throw CommandFailure.Code.failed.exitCode }
        }
    }
}
