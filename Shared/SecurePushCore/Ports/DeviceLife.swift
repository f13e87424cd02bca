/// A device of either kind, by its ID.
package struct DeviceReference: Sendable, Hashable {
    /// The form in which the hub registers the device.
    package var kind: DeviceLease.Kind
    /// Its ID.
    package var id: String

    /// Makes a reference.
    package init(kind: DeviceLease.Kind, id: String) {
        self.kind = kind
        self.id = id
    }
}

/// The devices of one user, and the devices whose time has come. ``DeviceLeases`` removes them.
///
/// A device is seen when it registers and when it renews its registration.
package protocol DeviceLife: Sendable {
    /// The next installations of a user after an ID, in the order of the bytes of their IDs.
    func installations(of owner: UserName, after id: String?, limit: Int) async throws -> [Installation]

    /// Devices of a user, at most `limit` of each kind, in any order.
    func devices(of owner: UserName, limit: Int) async throws -> [DeviceReference]

    /// Devices that may be due for removal, at most `limit` for each reason: the installations whose
    /// ``Installation/expiresAt`` has passed at `now`, and the devices that were last seen at `unseenSince` or before.
    /// A device can be listed twice. It may be renewed meanwhile, so check it again with its lease taken.
    func dueDevices(unseenSince: Timestamp, limit: Int, now: Timestamp) async throws -> [DeviceReference]
}

/// Why the time of a device has come.
package enum DueReason: Sendable, Hashable {
    /// Its `expirationTime` has passed.
    case expired
    /// It was not seen for too long.
    case unseen
}

extension Installation {
    /// Why the installation is to be removed at `now`; `nil` if it is not.
    package func dueReason(unseenSince: Timestamp, now: Timestamp) -> DueReason? {
        if let expiresAt, expiresAt <= now { return .expired }
        return lastSeenAt <= unseenSince ? .unseen : nil
    }
}

extension Registration {
    /// Why the registration is to be removed; `nil` if it is not.
    package func dueReason(unseenSince: Timestamp) -> DueReason? { updatedAt <= unseenSince ? .unseen : nil }
}
