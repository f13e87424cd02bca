package import Foundations

/// A hub at which a device is registered, or may be. Only systems with several hubs (`HUB_POOL_FILE`) store places: a
/// device without any was registered at the single hub.
package struct DevicePlace: Sendable, Hashable {
    /// The hub's name in lower case.
    package var hub: String
    /// The fingerprint of the device as the hub has it (``StoredDevice/fingerprint``); `nil` if that is unknown: a
    /// request was not answered, or the hub may have an older version of the device.
    package var content: Int64?

    package init(hub: String, content: Int64? = nil) {
        self.hub = hub
        self.content = content
    }
}

/// A device of either kind, by its ID.
package struct DeviceReference: Sendable, Hashable {
    package var kind: DeviceLease.Kind
    package var id: String

    package init(kind: DeviceLease.Kind, id: String) {
        self.kind = kind
        self.id = id
    }
}

/// Why a device is due for removal.
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
