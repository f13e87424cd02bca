import Domain
import Foundations
import Logging

/// Removes devices whose `expirationTime` has passed, and devices that were not seen for `DEVICE_STALE_AFTER`. The hub
/// is asked first, as for every removal.
struct DueDeviceSweep: Sendable {
    let changes: DeviceChanges
    /// `DEVICE_STALE_AFTER`.
    let staleAfter: Duration
    let logger: Logger
    private let problem = LastingProblemLog(
        "Devices that are due cannot be removed", end: "Devices that are due are removed again")

    /// Devices per sweep and reason.
    static let maxDevices = 50
    /// A third of the 30 seconds within which a device is removed.
    private static let interval: Duration = .seconds(10)

    /// Removes some devices.
    ///
    /// - Returns: the pause before the next sweep.
    func sweep(now: Timestamp = .now) async -> Duration {
        let unseenSince = now - staleAfter
        do {
            let due = try await changes.store.dueDevices(unseenSince: unseenSince, limit: Self.maxDevices, now: now)
            var removed = 0
            for device in Set(due) {
                if try await removeIfDue(device, unseenSince: unseenSince, now: now) { removed += 1 }
            }
            problem.succeeded(to: logger)
            if removed > 0 { logger.info("Removed devices that were due", metadata: ["devices": "\(removed)"]) }
            // If nothing could be removed, other processes are removing these devices.
            return removed > 0 && due.count >= Self.maxDevices ? .zero : Self.interval
        } catch {
            return problem.pause(afterSweep: error, interval: Self.interval, to: logger)
        }
    }

    private func removeIfDue(
        _ device: DeviceReference, unseenSince: Timestamp, now: Timestamp
    ) async throws -> Bool {
        do {
            return try await changes.remove(device) { device in
                switch device {
                case .installation(let installation):
                    installation.dueReason(unseenSince: unseenSince, now: now).map(DeviceRemoval.init)
                case .registration(let registration):
                    registration.dueReason(unseenSince: unseenSince).map(DeviceRemoval.init)
                }
            }
        } catch let error as StorageError where error.code == .failed {
            // A row that cannot be read must not keep the others.
            logger.warning("A device that is due cannot be removed", metadata: ["error": "\(error)"])
            return false
        }
    }
}
