/// The right of one request to change one device, in the hub and here.
///
/// The hub and the store cannot be changed in one transaction. So a lease is stored first, which says: the hub may
/// differ from the store for this device. Then the hub is asked, and then the lease ends together with the change of
/// the store. One request at a time has the lease of a device. What a crash or a lost answer leaves behind is a lease
/// that nobody ends; it expires, and then the hub is brought to the state of the store.
public struct DeviceLease: Sendable, Hashable {
    /// Which of the hub's two forms a device is registered in.
    public enum Kind: Int16, Sendable, Hashable, CaseIterable {
        case installation = 0
        case registration = 1
    }

    public var kind: Kind
    /// The device's ID as the store spells it, or as it was asked for where the store does not know it.
    public var id: String
    /// Tells this lease from later ones of the same device.
    public var token: Int64
    /// Whether taking the lease has added the installation to the store.
    public var isNew: Bool
    /// Whether the lease before this one was never ended: the hub may differ from the store already.
    public var isInDoubt: Bool

    public init(kind: Kind, id: String, token: Int64, isNew: Bool = false, isInDoubt: Bool = false) {
        self.kind = kind
        self.id = id
        self.token = token
        self.isNew = isNew
        self.isInDoubt = isInDoubt
    }

    /// How long a lease is valid. A request begins nothing at the hub in its second half, and no call of the hub takes
    /// longer than ten seconds, so nothing is in flight any more when it expires.
    public static let duration: Duration = .seconds(30)

    /// What must be true of the store for a lease to be given.
    public enum Condition: Sendable {
        /// The device is known and this user's.
        case owned(by: UserName)
        /// The ID is free, or the user's own, or its device has one of the handles. A free ID is taken by storing the
        /// installation; a user who has ``Installation/maxPerUser`` already gets none. Those that have one of the
        /// handles are not counted: they are about to be replaced.
        case claimed(by: Installation, handles: [String])
        /// The device is known and has one of the handles.
        case holding([String])
        /// The store does not know the device.
        case absent
        /// Any state: the hub is to be brought to it.
        case any
    }

    /// What a request for a lease came to.
    public enum Outcome: Sendable, Hashable {
        case leased(DeviceLease)
        /// Another request is changing the device at this moment.
        case busy
        /// The condition is not met.
        case refused
        /// The user has ``Installation/maxPerUser`` installations already.
        case tooMany
    }

    /// What becomes of the device in the store when its lease ends.
    public enum Change: Sendable {
        case keep
        case remove
        /// Stores it in the place of the one with its ID.
        ///
        /// - handles: the spellings of its handle.
        case saveInstallation(Installation, handles: [String])
        case saveRegistration(Registration, handles: [String])
    }

    /// A device whose lease has expired: the hub may differ from the store.
    public struct Expired: Sendable, Hashable {
        public var kind: Kind
        public var id: String

        public init(kind: Kind, id: String) {
            self.kind = kind
            self.id = id
        }
    }
}
