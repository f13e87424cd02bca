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

/// The store and the hub that a refill works between, opened for as long as it takes.
struct RefillDevices: Sendable {
    private let opened: OpenedStore
    /// `nil` where the hub is not to be asked.
    private let hub: NotificationHubConfiguration?

    init(databaseURL: String, hub: NotificationHubConfiguration?) async throws {
        opened = try await StoreSession.open(databaseURL)
        self.hub = hub
    }

    func run(_ kinds: [RefillItem.Kind], showsProgress: Bool) async throws -> RefillReport {
        let hub = hub.map { hub in
            (
                registrations: HubRegistrations(configuration: hub, logger: StoreSession.logger),
                installations: HubInstallations(configuration: hub, logger: StoreSession.logger)
            )
        }
        let services: [any Service] = hub.map { [$0.registrations, $0.installations] } ?? []
        let refill = HubRefill(
            store: opened.store, registrations: hub?.registrations ?? UnaskedHub(),
            installations: hub?.installations ?? UnaskedHub(), isDryRun: hub == nil)
        return try await StoreSession.run(opened, beside: services) { _ in
            let line = ProgressLine()
            defer { line.clear() }
            return try await refill.run(kinds) { report in
                // A line a device would cost more than the device.
                if showsProgress, report.done.isMultiple(of: 100) { line.show(report.summary) }
            }
        }
    }
}

extension Settings {
    /// The hub that the services' own settings name.
    func hub() throws -> NotificationHubConfiguration {
        guard self["HUB_CONNECTION_STRING"] != nil || self["HUB_CONNECTION_STRING_FILE"] != nil else {
            throw CommandFailure(
                .configuration, "HUB_CONNECTION_STRING is not set, and neither is HUB_CONNECTION_STRING_FILE.",
                hint: "Copy the connection string from the hub's page in the portal.")
        }
        return try NotificationHubConfiguration(
            connectionString: try self["HUB_CONNECTION_STRING"]
                ?? SecretFile.read(self["HUB_CONNECTION_STRING_FILE"] ?? ""),
            hubName: self["HUB_NAME"] ?? "", insecureHost: self["HUB_INSECURE_HOST"])
    }
}

/// Stands where the hub is not to be asked.
private struct UnaskedHub: RegistrationGateway, InstallationGateway {
    private var error: PushGatewayError { PushGatewayError(.unavailable, "the hub is not asked") }

    func createRegistrationID() async throws -> String { throw error }
    func putRegistration(
        _ id: String, platform: RegistrationPlatform, handle: String, tags: [String]
    ) async throws { throw error }
    func registrations(handle: String) async throws -> [HubRegistration] { throw error }
    func deleteRegistration(_ id: String) async throws { throw error }
    func putInstallation(_ id: String, document: [UInt8]) async throws { throw error }
    func deleteInstallation(_ id: String) async throws { throw error }
}
