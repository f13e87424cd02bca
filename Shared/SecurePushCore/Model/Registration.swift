/// A device's registration with the hub, as this system remembers it: whose it is.
public struct Registration: Sendable, Hashable {
    /// The hub's registration ID.
    public var id: String
    public var owner: UserName
    /// `nil` until the device has sent its platform and handle.
    public var platform: RegistrationPlatform?
    public var handle: String?
    public var updatedAt: Timestamp

    public init(
        id: String, owner: UserName, platform: RegistrationPlatform? = nil, handle: String? = nil, updatedAt: Timestamp
    ) {
        self.id = id
        self.owner = owner
        self.platform = platform
        self.handle = handle
        self.updatedAt = updatedAt
    }
}

/// A platform as the tutorial's clients name it when they register; not the names of the hub's formats.
public enum RegistrationPlatform: String, Sendable, CaseIterable {
    case apns
    case fcmv1
    case gcm
    case wns
}
