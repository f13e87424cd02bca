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
