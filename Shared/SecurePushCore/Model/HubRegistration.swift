/// A registration as the hub lists it.
public struct HubRegistration: Sendable, Hashable {
    public var id: String
    /// The installation that it stands for, by the hub's tag `$InstallationId:{ID}`; such a registration comes and goes
    /// with its installation.
    public var installationID: String?

    public init(id: String, installationID: String? = nil) {
        self.id = id
        self.installationID = installationID
    }
}
