package import Foundations

/// A platform as the hub names its formats: `apple`, `fcmv1`, `windows`, `adm`, `browser`, and the legacy `gcm`.
package struct Platform: Hashable, Sendable, RawRepresentable {
    package let rawValue: String

    /// Makes a platform of any name. For the names that are supported here see ``known``.
    package init(rawValue: String) { self.rawValue = rawValue }

    /// APNs.
    package static let apple = Platform(rawValue: "apple")
    /// Firebase Cloud Messaging, HTTP v1.
    package static let fcmv1 = Platform(rawValue: "fcmv1")
    /// Firebase Cloud Messaging, the legacy API.
    package static let gcm = Platform(rawValue: "gcm")
    /// Windows Push Notification Services.
    package static let windows = Platform(rawValue: "windows")
    /// Amazon Device Messaging.
    package static let adm = Platform(rawValue: "adm")
    /// Web Push.
    package static let browser = Platform(rawValue: "browser")

    /// The platforms that are supported here.
    package static let known: [Platform] = [.apple, .fcmv1, .gcm, .windows, .adm, .browser]
}

extension Platform: CustomStringConvertible {
    package var description: String { rawValue }
}

/// The rules for the IDs of installations and registrations.
///
/// The hub ignores the case of IDs, in its paths too. So two IDs that differ only in case are the same device.
package enum DeviceID {
    /// The maximum length in characters, which are bytes because an ID is ASCII.
    package static let maxLength = 128

    /// The rule, for error texts.
    package static let requirement = "An ID is 1 to 128 of A-Z a-z 0-9 - _ . and does not consist of dots only."

    /// Whether a text is a valid ID. Dots only, such as `..`, are not: a front end could take them for steps in the
    /// hub's path (RFC 3986, section 5.2.4).
    package static func isValid(_ text: String) -> Bool {
        isValid(text, alsoAllowing: "")
    }

    /// Whether a text is a valid ID, or was one in earlier versions, which also allowed `@ # : =`. Devices with such an
    /// ID can still be removed from the hub.
    package static func isRemovable(_ text: String) -> Bool {
        isValid(text, alsoAllowing: "@#:=")
    }

    /// The form in which IDs are compared: `A-Z` become `a-z`, and other bytes stay. Both databases fold in the same
    /// way.
    package static func folded(_ id: String) -> String {
        let bytes = id.utf8.map { byte in
            (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isValid(_ text: String, alsoAllowing more: String) -> Bool {
        (1...maxLength).contains(text.utf8.count)
            && text.utf8.allSatisfy { plain.contains($0) || more.utf8.contains($0) }
            && !text.utf8.allSatisfy { $0 == UInt8(ascii: ".") }
    }

    private static let plain = ByteSet.alphanumerics.union(ByteSet("-_."))
}

/// Our copy of a device's installation, with its owner. It is complete, so that a hub that was lost can be filled
/// again.
package struct Installation: Sendable, Hashable {
    /// The ID, which the device chooses.
    package var id: String
    package var owner: UserName
    /// The hub's format for its pushes.
    package var platform: Platform
    /// The push channel. For a browser it is the URL of its endpoint.
    package var handle: String
    /// The installation as the hub has it: JSON in the hub's own form.
    package var document: [UInt8]
    /// When its owner or its document last changed. A store keeps this time if an installation is saved unchanged.
    package var updatedAt: Timestamp
    /// When the device last registered or renewed its registration. Users and operators see only the day.
    package var lastSeenAt: Timestamp
    /// The `expirationTime` of the document; `nil` if it has none.
    package var expiresAt: Timestamp?
    /// The key with which senders encrypt for the device; `nil` if it has registered none. Only ``DeviceStore``
    /// changes it. An installation that is saved keeps the key that the store has, unless its owner changes.
    package var encryptionKey: DeviceEncryptionKey?

    /// Makes an installation.
    ///
    /// - Parameter lastSeenAt: `updatedAt` by default.
    package init(
        id: String, owner: UserName, platform: Platform, handle: String, document: [UInt8], updatedAt: Timestamp,
        lastSeenAt: Timestamp? = nil, expiresAt: Timestamp? = nil, encryptionKey: DeviceEncryptionKey? = nil
    ) {
        self.id = id
        self.owner = owner
        self.platform = platform
        self.handle = handle
        self.document = document
        self.updatedAt = updatedAt
        self.lastSeenAt = lastSeenAt ?? updatedAt
        self.expiresAt = expiresAt
        self.encryptionKey = encryptionKey
    }

    /// The maximum number of installations and registrations together per user.
    package static let maxPerUser = 100
}

/// Our copy of a device's registration with the hub, with its owner.
package struct Registration: Sendable, Hashable {
    /// The hub's registration ID.
    package var id: String
    package var owner: UserName
    /// The platform; `nil` until the device has sent its platform and handle.
    package var platform: RegistrationPlatform?
    /// The handle; `nil` until the device has sent it.
    package var handle: String?
    /// The tags in the hub, with the user's own tag.
    package var tags: [String]
    /// When the device last registered or renewed its registration.
    package var updatedAt: Timestamp

    package init(
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

/// A platform with the name that the tutorial's clients use to register; the hub's formats have other names.
package enum RegistrationPlatform: String, Sendable, CaseIterable {
    case apns
    case fcmv1
    case gcm
    case wns

    /// The hub's format for pushes to such a device.
    package var platform: Platform {
        switch self {
        case .apns: .apple
        case .fcmv1: .fcmv1
        case .gcm: .gcm
        case .wns: .windows
        }
    }
}

/// A registration as the hub lists it.
package struct HubRegistration: Sendable, Hashable {
    /// The hub's registration ID.
    package var id: String
    /// The installation that it represents (the hub's tag `$InstallationId:{ID}`). Such a registration is created and
    /// deleted with its installation.
    package var installationID: String?

    package init(id: String, installationID: String? = nil) {
        self.id = id
        self.installationID = installationID
    }
}

/// The exclusive right of one request to change one device, in the hub and here.
///
/// The hub and the store cannot be changed in one transaction. So the lease is stored first, which means: the hub may
/// differ from the store for this device. Then the hub is asked, and then one transaction ends the lease and changes
/// the store. After a crash or a lost answer nobody ends the lease. It expires, and then the hub is brought to the
/// state of the store.
package struct DeviceLease: Sendable, Hashable {
    /// The two forms in which the hub registers a device.
    package enum Kind: Int16, Sendable, Hashable, CaseIterable {
        case installation = 0
        case registration = 1
    }

    package var kind: Kind
    /// The device's ID as the store spells it, or as the request spells it if the store does not know the device.
    package var id: String
    /// Distinguishes this lease from later ones of the same device.
    package var token: Int64
    /// Whether taking the lease has added the installation to the store.
    package var isNew: Bool
    /// Whether the previous lease was never ended, so that the hub may differ from the store already.
    package var isInDoubt: Bool

    package init(kind: Kind, id: String, token: Int64, isNew: Bool = false, isInDoubt: Bool = false) {
        self.kind = kind
        self.id = id
        self.token = token
        self.isNew = isNew
        self.isInDoubt = isInDoubt
    }

    /// How long a lease is valid. A request starts no call of the hub in the second half of its lease, and no call
    /// takes longer than ten seconds, so that no call is in flight when the lease expires.
    package static let duration: Duration = .seconds(30)

    /// The condition for taking a lease.
    package enum Condition: Sendable {
        /// The store knows the device, and this user owns it.
        case owned(by: UserName)
        /// The ID is free, or the user owns it, or its device has one of the handles. For a free ID the installation is
        /// stored, unless the user has ``Installation/maxPerUser`` devices already. Devices with one of the handles do
        /// not count, because they are about to be replaced; a registration that has no platform yet does.
        case claimed(by: Installation, handles: [String])
        /// The store knows the device, and it has one of the handles.
        case holding([String])
        /// The store does not know the device.
        case absent
        /// The store does not know the device, and the user has fewer than ``Installation/maxPerUser`` devices.
        case new(for: UserName)
        /// Any state; used to bring the hub to it.
        case any
    }

    package enum Outcome: Sendable, Hashable {
        case leased(DeviceLease)
        /// Another request is changing the device.
        case busy
        /// The condition is not met.
        case refused
        /// The user has ``Installation/maxPerUser`` devices already.
        case tooMany
    }

    /// The change of the store when a lease ends.
    package enum Change: Sendable {
        case keep
        case remove
        /// The installation replaces the one with its ID. `handles` are the spellings of its handle.
        case saveInstallation(Installation, handles: [String])
        /// The registration replaces the one with its ID. `handles` are the spellings of its handle.
        case saveRegistration(Registration, handles: [String])
    }

    /// A device whose lease has expired, so that the hub may differ from the store.
    package struct Expired: Sendable, Hashable {
        package var kind: Kind
        package var id: String

        package init(kind: Kind, id: String) {
            self.kind = kind
            self.id = id
        }
    }
}
