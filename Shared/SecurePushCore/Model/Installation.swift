/// A device's installation in the hub's own form, as this system remembers it: whose it is, and all of it, so that a
/// hub that was lost can be filled again.
public struct Installation: Sendable, Hashable {
    /// The installation's ID, of the device's choosing.
    public var id: String
    public var owner: UserName
    /// The hub's format for its pushes.
    public var platform: Platform
    /// The push channel; for a browser the endpoint's URL.
    public var handle: String
    /// The installation as the hub was given it: JSON in the hub's own form.
    public var document: [UInt8]
    public var updatedAt: Timestamp

    public init(
        id: String, owner: UserName, platform: Platform, handle: String, document: [UInt8], updatedAt: Timestamp
    ) {
        self.id = id
        self.owner = owner
        self.platform = platform
        self.handle = handle
        self.document = document
        self.updatedAt = updatedAt
    }

    /// How many installations one user may have.
    public static let maxPerUser = 100
}
