package import Foundations

/// Our copy of the devices in the hub. A lease changes it: one request at a time per device.
///
/// The case of IDs does not matter (``DeviceID/folded(_:)``).
package protocol DeviceStore: KeyNoticeStore {
    /// The installation with this ID (case does not matter), of any owner.
    func installation(_ id: String) async throws -> Installation?

    /// All installations with a device's handle, of any owner.
    func installations(handle: String) async throws -> [Installation]

    /// The next installations after an ID, in the order of the bytes of their IDs. Used to fill a hub again.
    func installations(after id: String?, limit: Int) async throws -> [Installation]

    /// The registration with this ID (case does not matter), if it belongs to this user.
    func registration(_ id: String, owner: UserName) async throws -> Registration?

    /// The registration with this ID (case does not matter), of any owner.
    func registration(_ id: String) async throws -> Registration?

    /// All registrations with a device's handle, of any owner.
    func registrations(handle: String) async throws -> [Registration]

    /// The next registrations after an ID, in the order of the bytes of their IDs. Used to fill a hub again.
    func registrations(after id: String?, limit: Int) async throws -> [Registration]

    // Changes of devices, which happen in the hub and in the store.

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

    // The devices of one user, and the devices whose time has come. A lease removes them.
    //
    // A device is seen when it registers and when it renews its registration.

    /// The next installations of a user after an ID, in the order of the bytes of their IDs.
    func installations(of owner: UserName, after id: String?, limit: Int) async throws -> [Installation]

    /// Devices of a user, at most `limit` of each kind, in any order.
    func devices(of owner: UserName, limit: Int) async throws -> [DeviceReference]

    /// Devices that may be due for removal, at most `limit` for each reason: the installations whose
    /// ``Installation/expiresAt`` has passed at `now`, and the devices that were last seen at `unseenSince` or before.
    /// A device can be listed twice. It may be renewed meanwhile, so check it again with its lease taken.
    func dueDevices(unseenSince: Timestamp, limit: Int, now: Timestamp) async throws -> [DeviceReference]

    // The places of devices. ``DevicePlacer`` changes them.

    /// The places of devices of one kind, each list in the order of the hubs' names.
    ///
    /// - Parameter ids: case does not matter.
    /// - Returns: by the folded ID (``DeviceID/folded(_:)``). A device without places is absent.
    func places(of kind: DeviceLease.Kind, _ ids: [String]) async throws -> [String: [DevicePlace]]

    /// Replaces all places of the device of a lease.
    ///
    /// - Parameter places: at most one per hub.
    /// - Returns: false if the lease is not held any more. Nothing is changed then.
    func setPlaces(_ places: [DevicePlace], of lease: DeviceLease) async throws -> Bool

    /// Devices that have places and are not stored any more, in the order of their folded IDs.
    ///
    /// - Parameter id: only devices after this folded ID.
    func placesWithoutDevice(
        of kind: DeviceLease.Kind, after id: String?, limit: Int
    ) async throws -> [DeviceReference]

    /// How many devices a user has now: installations, and registrations with a platform.
    func deviceCount(of owner: UserName) async throws -> Int

    // The public keys of installations for end-to-end encryption.
    //
    // A key belongs to an installation of one user: it goes when the installation is removed, for whatever reason, and
    // when another user takes the installation over. The hub has no part in it, so a key changes without a lease.

    /// Stores the key of an installation; the case of its ID does not matter. An earlier key is gone then. The same key
    /// again changes nothing.
    ///
    /// - Parameter notifies: whether a notice waits from now on (``KeyNoticeStore``), if the user has another device, and
    ///   the key is the installation's first one, or replaces one that is younger than ``KeyNotice/rotationAge``.
    /// - Returns: whether the user has such an installation.
    func setEncryptionKey(
        _ key: EncryptionKey, of installation: String, owner: UserName, notifies: Bool, now: Timestamp
    ) async throws -> Bool

    /// The keys of a user's installations, in the order of the bytes of the installations' IDs. Installations without a
    /// key are absent. An unknown user has none.
    func encryptionKeys(of owner: UserName, limit: Int) async throws -> [DeviceEncryptionKey]
}

extension DeviceStore {
    /// Stores a key without a notice.
    package func setEncryptionKey(
        _ key: EncryptionKey, of installation: String, owner: UserName, now: Timestamp
    ) async throws -> Bool {
        try await setEncryptionKey(key, of: installation, owner: owner, notifies: false, now: now)
    }
}
