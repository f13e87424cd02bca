import Domain
import Foundations
import ServiceRuntime

/// The ends of devices that their users did not ask for one by one.
extension DeviceChanges {
    /// The time for removing all devices of a user. A request for more devices ends with 503 and can be repeated.
    private static let maxRemovalTime: Duration = .seconds(20)
    /// Devices of a user that are removed at once.
    private static let removalsInFlight = 8

    /// Removes all devices of a user, from the hub first. Every device is complete in itself, so a failure or a crash
    /// leaves some devices, and the same call removes these later.
    ///
    /// - Throws: ``PushGatewayError``, ``StorageError``, ``Problem``.
    func removeAll(of owner: UserName) async throws {
        _ = try requiredHubs
        let end = ContinuousClock.now + Self.maxRemovalTime
        while true {
            let devices = try await store.devices(of: owner, limit: 100)
            if devices.isEmpty { return }
            var rejection: PushGatewayError?
            for start in stride(from: 0, to: devices.count, by: Self.removalsInFlight) {
                guard ContinuousClock.now < end else {
                    throw Problem.serviceUnavailable("Some of your devices remain. Repeat the request.")
                }
                let some = devices[start..<min(start + Self.removalsInFlight, devices.count)]
                rejection = try await remove(some, of: owner) ?? rejection
            }
            if let rejection { throw rejection }
        }
    }

    /// - Returns: the error of a device that the hub refuses to remove; the others are removed.
    private func remove(
        _ devices: ArraySlice<DeviceReference>, of owner: UserName
    ) async throws -> PushGatewayError? {
        try await withThrowingTaskGroup(of: PushGatewayError?.self) { group in
            for device in devices {
                group.addTask {
                    do {
                        try await remove(device.kind, device.id, if: .owned(by: owner))
                        return nil
                    } catch let error as PushGatewayError where error.code == .rejected {
                        return error
                    }
                }
            }
            return try await group.reduce(nil) { $0 ?? $1 }
        }
    }

    /// Removes a device if there is a reason for it while nobody else can change it. A device that another request is
    /// changing stays.
    ///
    /// - Returns: whether the device was removed.
    @discardableResult
    func remove(
        _ device: DeviceReference, when reason: @Sendable (StoredDevice) -> DeviceRemoval?
    ) async throws -> Bool {
        let hubs = try requiredHubs
        let outcome = try await store.lease(device.kind, device.id, if: .any, now: .now)
        guard case .leased(let lease) = outcome else { return false }
        let known: StoredDevice?
        do {
            known = try await stored(device)
        } catch {
            try? await undo(lease)
            throw error
        }
        guard let known, let reason = reason(known) else {
            try await undo(lease)
            return false
        }
        try await perform(lease, then: .remove) {
            do {
                try await hubs.delete(lease)
            } catch let error as PushGatewayError where error.code == .rejected {
                // It would refuse each time. The device must not stay here because of that.
            }
        }
        removals?.count(reason)
        return true
    }

    private func stored(_ device: DeviceReference) async throws -> StoredDevice? {
        switch device.kind {
        case .installation: try await store.installation(device.id).map(StoredDevice.installation)
        case .registration: try await store.registration(device.id).map(StoredDevice.registration)
        }
    }

    /// Ends the lease of a device that the hub has given up (410). A registration ID stays its owner's, without a
    /// device, so that a repeated request gets 410 again.
    func forget(_ lease: DeviceLease, _ change: DeviceLease.Change) async throws {
        // Only for the metric: the lease is ended in any case.
        let known = try? await stored(DeviceReference(kind: lease.kind, id: lease.id))
        var forgotten = DeviceLease.Change.remove
        if case .saveRegistration(let wanted, _) = change {
            let idOnly = Registration(id: wanted.id, owner: wanted.owner, updatedAt: .now)
            forgotten = .saveRegistration(idOnly, handles: [])
        }
        let isEnded = try await store.end(lease, forgotten, now: .now)
        if isEnded, !lease.isNew, known?.handle != nil { removals?.count(.gone) }
    }
}
