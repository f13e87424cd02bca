/// Changes of devices, which take place in the hub and in the store: one request at a time for each device.
///
/// IDs are compared without regard to case (``DeviceID/folded(_:)``).
public protocol DeviceLeases: Sendable {
    /// Takes the lease of a device, if the condition is met and nobody else has it. Both are one transaction.
    func lease(
        _ kind: DeviceLease.Kind, _ id: String, if condition: DeviceLease.Condition, now: Timestamp
    ) async throws -> DeviceLease.Outcome

    /// Ends a lease, and changes the store in the same transaction.
    ///
    /// - Returns: false where the lease had expired and another request has taken it since: nothing is changed then.
    func end(_ lease: DeviceLease, _ change: DeviceLease.Change, now: Timestamp) async throws -> Bool

    /// Lets a lease expire at once: it is not known what the hub has done.
    func expire(_ lease: DeviceLease, now: Timestamp) async throws

    /// Devices whose lease has expired, those first that have waited for longest.
    func expiredLeases(limit: Int, now: Timestamp) async throws -> [DeviceLease.Expired]

    /// A handle that was new to this store when a device came with it, and for which the hub has not been asked yet.
    /// It is not given out again before `until`.
    func leaseNewHandle(now: Timestamp, until: Timestamp) async throws -> String?

    /// Notes that the hub was asked for all devices with these spellings of a handle.
    func settleNewHandle(_ handles: [String]) async throws
}
