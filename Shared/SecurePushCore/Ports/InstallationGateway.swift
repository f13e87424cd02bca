/// Keeps devices' installations in the hub.
public protocol InstallationGateway: Sendable {
    /// Creates or overwrites an installation.
    ///
    /// - Parameter document: JSON in the hub's own form.
    /// - Throws: ``PushGatewayError``.
    func putInstallation(_ id: String, document: [UInt8]) async throws

    /// Deletes an installation; one that is not there is deleted already.
    func deleteInstallation(_ id: String) async throws
}
