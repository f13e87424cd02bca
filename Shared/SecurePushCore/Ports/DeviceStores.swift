/// Our copy of the installations in the hub. ``DeviceLeases`` changes it.
package protocol InstallationStore: Sendable {
    /// The installation with this ID (case does not matter), of any owner.
    func installation(_ id: String) async throws -> Installation?

    /// All installations with a device's handle, of any owner.
    func installations(handle: String) async throws -> [Installation]

    /// The next installations after an ID, in the order of the bytes of their IDs. Used to fill a hub again.
    func installations(after id: String?, limit: Int) async throws -> [Installation]
}

/// Our copy of the registrations in the hub. ``DeviceLeases`` changes it.
package protocol RegistrationStore: Sendable {
    /// The registration with this ID (case does not matter), if it belongs to this user.
    func registration(_ id: String, owner: UserName) async throws -> Registration?

    /// The registration with this ID (case does not matter), of any owner.
    func registration(_ id: String) async throws -> Registration?

    /// All registrations with a device's handle, of any owner.
    func registrations(handle: String) async throws -> [Registration]

    /// The next registrations after an ID, in the order of the bytes of their IDs. Used to fill a hub again.
    func registrations(after id: String?, limit: Int) async throws -> [Registration]
}

/// Changes of devices, which happen in the hub and in the store: one request at a time per device.
///
/// The case of IDs does not matter (``DeviceID/folded(_:)``).
package protocol DeviceLeases: Sendable {
    /// Takes the lease of a device if the condition is met and no other request holds it. Both happen in one
    /// transaction.
    func lease(
        _ kind: DeviceLease.Kind, _ id: String, if condition: DeviceLease.Condition, now: Timestamp
    ) async throws -> DeviceLease.Outcome

    /// Ends a lease, and changes the store in the same transaction.
    ///
    /// - Returns: false if the lease had expired and another request has taken it since. Nothing is changed then.
    func end(_ lease: DeviceLease, _ change: DeviceLease.Change, now: Timestamp) async throws -> Bool

    /// Makes a lease expire at once, because the state of the hub is unknown.
    func expire(_ lease: DeviceLease, now: Timestamp) async throws

    /// Devices whose lease has expired, the oldest first.
    func expiredLeases(limit: Int, now: Timestamp) async throws -> [DeviceLease.Expired]

    /// A handle that was new to this store when a device brought it, and that the hub has not been asked about yet. No
    /// other call gets it before `until`.
    func leaseNewHandle(now: Timestamp, until: Timestamp) async throws -> String?

    /// Stores that the hub was asked for all devices with these spellings of a handle.
    func settleNewHandle(_ handles: [String]) async throws
}

/// The platforms on which users have devices here (`DISPATCH_REGISTERED_ONLY`).
package protocol RegisteredPlatforms: Sendable {
    /// The platforms on which each user has an installation or a registration. A user without any is absent.
    func platforms(of users: [UserName]) async throws -> [UserName: Set<Platform>]
}
