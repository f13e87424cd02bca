import Logging
import SecurePushCore

/// Brings the hub to the state of the store, for devices whose change was left half done: by a crash, or by a hub that
/// did not answer.
struct HubReconciler: Sendable {
    let changes: DeviceChanges
    let logger: Logger

    /// Devices of one sweep.
    private static let maxDevices = 50
    private static let interval: Duration = .seconds(1)
    /// After a failure without a wish of the hub.
    private static let pauseAfterFailure: Duration = .seconds(5)

    /// Brings some devices into order.
    ///
    /// - Returns: how long to rest.
    func sweep(now: Timestamp = .now) async -> Duration {
        do {
            let devices = try await changes.store.expiredLeases(limit: Self.maxDevices, now: now)
            for device in devices { try await reconcile(device) }
            return devices.count == Self.maxDevices ? .zero : Self.interval
        } catch let error as PushGatewayError {
            logger.warning(
                "Devices could not be brought up to date in the hub", metadata: ["hub.error": "\(error.code)"])
            return max(error.retryAfter ?? Self.pauseAfterFailure, Self.interval)
        } catch {
            logger.debug("Devices could not be brought up to date", metadata: ["error": "\(error)"])
            return Self.pauseAfterFailure
        }
    }

    private func reconcile(_ device: DeviceLease.Expired) async throws {
        // Another process may have it by now.
        guard case .leased(let lease) = try await changes.store.lease(device.kind, device.id, if: .any, now: .now)
        else { return }
        do {
            let change = try await bringUpToDate(lease)
            _ = try await changes.store.end(lease, change, now: .now)
        } catch {
            // Later again, behind the others. If this fails too, the lease expires by itself.
            try? await changes.store.expire(lease, now: .now)
            throw error
        }
    }

    /// - Returns: what the store has to do about it.
    private func bringUpToDate(_ lease: DeviceLease) async throws -> DeviceLease.Change {
        do {
            if let known = try await put(lease) { return known }
        } catch let error as PushGatewayError where error.code == .rejected || error.code == .gone {
            // The hub will never take it. The device registers again at its next start.
            logger.warning("A device is removed because the hub refuses it", metadata: ["hub.error": "\(error.code)"])
        }
        try await changes.deleteAtHub(lease.kind, lease.id)
        return .remove
    }

    /// - Returns: what the store has to do about it; `nil` where it does not know the device.
    private func put(_ lease: DeviceLease) async throws -> DeviceLease.Change? {
        switch lease.kind {
        case .installation:
            guard let known = try await changes.store.installation(lease.id) else { return nil }
            try await changes.installations.putInstallation(known.id, document: known.document)
        case .registration:
            guard let known = try await changes.store.registration(lease.id) else { return nil }
            guard let platform = known.platform, let handle = known.handle else {
                // An ID whose device is not registered yet: it stays its owner's.
                try await changes.deleteAtHub(.registration, known.id)
                return .keep
            }
            try await changes.registrations.putRegistration(
                known.id, platform: platform, handle: handle, tags: known.tags)
        }
        return .keep
    }
}
