/// A device's registration with the hub, as this system remembers it: whose it is.
public struct Registration: Sendable, Hashable {
    /// The hub's registration ID.
    public var id: String
    public var owner: UserName
    /// `nil` until the device has sent its platform and handle.
    public var platform: RegistrationPlatform?
    public var handle: String?
    /// As the hub has them, the user's own tag included.
    public var tags: [String]
    public var updatedAt: Timestamp

    public init(
        id: String, owner: UserName, platform: RegistrationPlatform? = nil, handle: String? = nil, tags: [String] = [],
        updatedAt: Timestamp
    ) {
        self.id = id
        self.owner = owner
        self.platform = platform
        self.handle = handle
        self.tags = tags
        self.updatedAt = updatedAt
    }
}

/// A platform as the tutorial's clients name it when they register; not the names of the hub's formats.
public enum RegistrationPlatform: String, Sendable, CaseIterable {
    case apns
    case fcmv1
    case gcm
    case wns

    /// The hub's format for pushes to such a device.
    public var platform: Platform {
        switch self {
        case .apns: .apple
        case .fcmv1: .fcmv1
        case .gcm: .gcm
        case .wns: .windows
        }
    }
}
