import Domain
import Foundations
import Logging

/// Restores the store's state of a device in the hub, if a change of the device did not finish. Either the process has
/// crashed, or the hub did not answer.
struct HubReconciler: Sendable {
    let changes: DeviceChanges
    let logger: Logger

    /// Devices per sweep.
    private static let maxDevices = 50
    private static let interval: Duration = .seconds(1)
    /// With several hubs: the failures after which a sweep ends.
    private static let maxFailures = 3
    /// The pause after a failure for which the hub names no delay.
    private static let pauseAfterFailure: Duration = .seconds(5)

    /// Reconciles some devices.
    ///
    /// - Returns: the pause before the next sweep.
    func sweep(now: Timestamp = .now) async -> Duration {
        do {
            let devices = try await changes.store.expiredLeases(limit: Self.maxDevices, now: now)
            var failures: [PushGatewayError] = []
            for device in devices {
                do {
                    try await reconcile(device)
                } catch let error as PushGatewayError where changes.hubs?.areSeveral == true {
                    // Another hub may answer. A hub that does not takes long.
                    failures.append(error)
                    if failures.count == Self.maxFailures { break }
                }
            }
            if let failure = failures.first { throw failure }
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
        // Another process may have the lease by now.
        guard case .leased(let lease) = try await changes.store.lease(device.kind, device.id, if: .any, now: .now)
        else { return }
        do {
            let (change, reason) = try await bringUpToDate(lease)
            let isEnded = try await changes.store.end(lease, change, now: .now)
            if isEnded, let reason { changes.removals?.count(reason) }
        } catch {
            // Retried later, after the other devices. If this fails too, the lease expires by itself.
            try? await changes.store.expire(lease, now: .now)
            throw error
        }
    }

    /// - Returns: the change for the store, and why a device is removed.
    private func bringUpToDate(
        _ lease: DeviceLease
    ) async throws -> (change: DeviceLease.Change, reason: DeviceRemoval?) {
        let hubs = try changes.requiredHubs
        var reason: DeviceRemoval?
        do {
            switch lease.kind {
            case .installation:
                if let known = try await changes.store.installation(lease.id) {
                    try await hubs.put(.installation(known), lease)
                    return (.keep, nil)
                }
            case .registration:
                if let known = try await changes.store.registration(lease.id) {
                    // An ID whose device is not registered yet stays its owner's.
                    if try await !hubs.put(.registration(known), lease) { try await hubs.delete(lease) }
                    return (.keep, nil)
                }
            }
        } catch let error as PushGatewayError where error.code == .rejected || error.code == .gone {
            // Permanent. The device registers again at its next start.
            logger.warning("A device is removed because the hub rejects it", metadata: ["hub.error": "\(error.code)"])
            reason = error.code == .gone ? .gone : .rejected
        }
        try await hubs.delete(lease)
        return (.remove, reason)
    }
}
