import ArgumentParser
import NotificationHubs
import SecurePushCore
import ServiceRuntime
import Storage

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

    struct Refill: ConsoleCommand {
        static let configuration = CommandConfiguration(
            commandName: "refill",
            abstract: "Write all installations and registrations of the database to the hub.",
            discussion: """
                Use it after the loss of a hub, or for a new hub. HUB_CONNECTION_STRING (or its file) and HUB_NAME give
                the hub. Running it again does no harm. The command lists registrations whose ID the hub does not accept
                any more; their devices register again when the app starts next. Exit codes: 0 all written, 1 some
                failed, 69 the hub or the database does not answer, 78 invalid settings.

                EXAMPLES
                  securepush installations refill --dry-run
                  DATABASE_URL=postgres://db/securepush HUB_NAME=new-hub securepush installations refill
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

        var kinds: [RefillItem.Kind] {
            switch part {
            case .installationsOnly: [.installation]
            case .registrationsOnly: [.registration]
            case nil: RefillItem.Kind.allCases
            }
        }

        func run(on console: Console) async throws {
            let devices = try await RefillDevices(
                databaseURL: database.url, hub: isDryRun ? nil : Settings().hub())
            let report = try await devices.run(kinds, showsProgress: !console.isJSON)
            for failure in report.failures {
                try console.show(failure, "\(failure.kind.rawValue) \(failure.id.printable): \(failure.reason)")
            }
            try console.show(report, report.summary)
            if !report.failures.isEmpty { throw CommandFailure.Code.failed.exitCode }
        }
    }
}

/// Opens the store and the hub for the duration of a refill.
struct RefillDevices: Sendable {
    private let opened: OpenedStore
    /// `nil` for a dry run.
    private let hub: HubDevices?

    init(databaseURL: String, hub: NotificationHubConfiguration?) async throws {
        opened = try await StoreSession.open(databaseURL)
        self.hub = hub.map { HubDevices(configuration: $0, logger: .silent) }
    }

    func run(_ kinds: [RefillItem.Kind], showsProgress: Bool) async throws -> RefillReport {
        let refill = HubRefill(store: opened.store, hub: hub)
        return try await StoreSession.run(opened) { _ in
            guard let hub else { return try await run(refill, kinds, showsProgress) }
            return try await withRunning(hub) { try await run(refill, kinds, showsProgress) }
        }
    }

    private func run(_ refill: HubRefill, _ kinds: [RefillItem.Kind], _ showsProgress: Bool) async throws
        -> RefillReport
    {
        let line = ProgressLine()
        defer { line.clear() }
        return try await refill.run(kinds) { report in
            // Writing a line for every device would take longer than the devices.
            if showsProgress, report.done.isMultiple(of: 100) { line.show(report.summary) }
        }
    }
}
