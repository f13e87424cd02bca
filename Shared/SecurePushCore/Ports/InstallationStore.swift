/// This system's own copy of the installations in the hub. ``DeviceLeases`` changes it.
public protocol InstallationStore: Sendable {
    /// The installation with this ID, in any case, of any owner.
    func installation(_ id: String) async throws -> Installation?

    /// All installations of a device's handle, of any owner.
    func installations(handle: String) async throws -> [Installation]

    /// All installations in the order of their IDs (by bytes), from behind `after`; to fill a hub again.
    func installations(after id: String?, limit: Int) async throws -> [Installation]
}
