import ArgumentParser
import NotificationHubs
import SecurePushCore
import ServiceLifecycle
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
                the hub. With HUB_POOL_FILE each device is written to its user's hub, and removed at the other hubs
                where it may be. Running it again does no harm. The command lists registrations whose ID the hub does
                not accept any more; their devices register again when the app starts next. Exit codes: 0 all written,
                1 some failed, 69 the hub or the database does not answer, 78 invalid settings.

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
                databaseURL: database.url, hubs: isDryRun ? nil : Settings().hubs())
            let report = try await devices.run(kinds, showsProgress: !console.isJSON)
            try report.failures.show(on: console)
            try console.show(report, report.summary)
            if report.failures.count > 0 { throw CommandFailure.Code.failed.exitCode }
        }
    }
}

/// Opens the store and the hubs for the duration of a refill.
struct RefillDevices: Sendable {
    private let opened: OpenedStore
    /// `nil` for a dry run.
    private let hubs: (DevicePlacer.Hubs, any Service)?

    init(databaseURL: String, hubs: HubSettings?) async throws {
        opened = try await StoreSession.open(databaseURL)
        switch hubs {
        case .single(let configuration)?:
            let hub = HubDevices(configuration: configuration, logger: .silent)
            self.hubs = (.single(hub), hub)
        case .pool(let settings)?:
            let file = try Settings.namingHubPool { try HubPoolFile(settings, logger: .silent) }
            let pool = HubDevicesPool(file: file, logger: .silent)
            let table = pool.table
            self.hubs = (.pool { table }, pool)
        case nil: self.hubs = nil
        }
    }

    func run(_ kinds: [RefillItem.Kind], showsProgress: Bool) async throws -> RefillReport {
        let refill = HubRefill(store: opened.store, hubs: hubs?.0)
        return try await StoreSession.run(opened) { _ in
            guard let service = hubs?.1 else { return try await run(refill, kinds, showsProgress) }
            return try await withRunning(service) { try await run(refill, kinds, showsProgress) }
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
