/// This system's own copy of the installations in the hub.
public protocol InstallationStore: Sendable {
    /// Stores an installation, replacing the one with its ID.
    func save(_ installation: Installation) async throws

    /// The installation with this ID, whoever owns it: IDs are compared byte for byte.
    func installation(_ id: String) async throws -> Installation?

    /// All installations of a device's handle, whoever owns them.
    func installations(handle: String) async throws -> [Installation]

    /// All installations in the order of their IDs (by bytes), from behind `after`; to fill a hub again.
    func installations(after id: String?, limit: Int) async throws -> [Installation]

    /// Removes an installation, whoever owns it; an unknown ID is ignored.
    func removeInstallation(_ id: String) async throws
}
