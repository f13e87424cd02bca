import Logging
import NotificationHubs
import SecurePushCore
import ServiceLifecycle
import Storage

/// The store and the hub that a refill works between, opened for as long as it takes.
struct RefillDevices: Sendable {
    private let opened: OpenedStore
    /// `nil` where the hub is not to be asked.
    private let hub: NotificationHubConfiguration?
    private static let logger = Logger(label: "securepush") { _ in SwiftLogNoOpLogHandler() }

    init(databaseURL: String, hub: NotificationHubConfiguration?) async throws {
        let configuration = try StorageConfiguration(url: databaseURL, migrations: .check)
        // Opening a SQLite database would make it.
        if configuration.kind == .sqlite, case let path = databaseURL.dropFirst("sqlite:".count),
            !SecretFile.exists(String(path))
        {
            throw CommandFailure(
                .unreachable, "There is no database at \(path).", hint: "Is DATABASE_URL the services' own?")
        }
        opened = try await openStore(configuration, logger: Self.logger)
        self.hub = hub
    }

    func run(_ kinds: [RefillItem.Kind], showsProgress: Bool) async throws -> RefillReport {
        let hub = hub.map { hub in
            (
                registrations: HubRegistrations(configuration: hub, logger: Self.logger),
                installations: HubInstallations(configuration: hub, logger: Self.logger)
            )
        }
        var services: [any Service] = [opened.service]
        if let hub { services += [hub.registrations, hub.installations] as [any Service] }
        let refill = HubRefill(
            store: opened.store, registrations: hub?.registrations ?? UnaskedHub(),
            installations: hub?.installations ?? UnaskedHub(), isDryRun: hub == nil)
        return try await withThrowingTaskGroup(of: RefillReport?.self) { group in
            for service in services {
                group.addTask {
                    try await service.run()
                    return nil
                }
            }
            group.addTask {
                try await waitUntilReady()
                let line = ProgressLine()
                defer { line.clear() }
                return try await refill.run(kinds) { report in
                    // A line a device would cost more than the device.
                    if showsProgress, report.done.isMultiple(of: 100) { line.show(report.summary) }
                }
            }
            defer { group.cancelAll() }
            while let report = try await group.next() { if let report { return report } }
            throw CommandFailure(.unreachable, "The database was closed.")
        }
    }

    /// The store answers some time after its service was started.
    private func waitUntilReady() async throws {
        let end = ContinuousClock.now + .seconds(5)
        while true {
            do {
                return try await opened.store.ping(timeout: .seconds(2))
            } catch let error as StorageError {
                guard error.isRetriable, ContinuousClock.now < end else { throw error }
                try await Task.sleep(for: .milliseconds(100))
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
