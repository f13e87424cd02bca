import NotificationHubs
import SecurePushCore
import ServiceLifecycle
import Storage

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
        let hub = hub.map { HubDevices(configuration: $0, logger: StoreSession.logger) }
        let services: [any Service] = hub.map { [$0] } ?? []
        let refill = HubRefill(
            store: opened.store, registrations: hub ?? UnaskedHub(), installations: hub ?? UnaskedHub(),
            isDryRun: hub == nil)
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
