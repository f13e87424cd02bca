import Logging
import SecurePushCore
import Synchronization

/// Removes devices whose push channel is dead according to the hub's feedback (`HUB_TELEMETRY`).
///
/// After a start all feedback is read again. That is harmless: a device that registered its handle later than the
/// rejection stays.
final class DeadChannelSweep: Sendable {
    private let changes: DeviceChanges
    private let hub: any HubFeedback
    private let logger: Logger
    private let problem = LastingProblemLog(
        "The hub's feedback cannot be read", end: "The hub's feedback is read again")
    private let handled = Mutex(Handled())

    /// The feedback that needs no more work.
    private struct Handled {
        var versions: [String: String] = [:]
        /// Of the last page only, so there are never more than the hub lists. A file without a version is read each
        /// time.
        var channels: Set<DeadChannel> = []
    }

    private static let interval: Duration = .seconds(10)
    /// The rule of the connection string may lack the Manage right, or the tier may have no feedback.
    private static let pauseAfterRefusal: Duration = .seconds(300)

    init(changes: DeviceChanges, feedback: any HubFeedback, logger: Logger) {
        self.changes = changes
        hub = feedback
        self.logger = logger
    }

    /// Reads new feedback and removes the devices that it names.
    ///
    /// - Returns: the pause before the next sweep.
    func sweep() async -> Duration {
        let (versions, known) = handled.withLock { ($0.versions, $0.channels) }
        do {
            let page = try await hub.feedback(after: versions)
            let channels = Set(page.channels)
            for channel in channels where !known.contains(channel) { try await remove(channel) }
            handled.withLock { $0 = Handled(versions: page.versions, channels: channels) }
            problem.succeeded(to: logger)
            return Self.interval
        } catch {
            return problem.pause(
                afterSweep: error, interval: Self.interval, ifRefused: Self.pauseAfterRefusal, to: logger)
        }
    }

    /// Removes the devices that had the handle when it was rejected.
    private func remove(_ channel: DeadChannel) async throws {
        let handles = DeviceHandle.spellings(channel.handle)
        for handle in handles {
            let devices =
                try await changes.store.installations(handle: handle)
                .map { DeviceReference(kind: .installation, id: $0.id) }
                + changes.store.registrations(handle: handle)
                .map { DeviceReference(kind: .registration, id: $0.id) }
            for device in devices {
                try await changes.remove(device) { device in
                    guard let handle = device.handle, handles.contains(where: { $0.utf8.elementsEqual(handle.utf8) })
                    else { return nil }
                    return device.seenAt < channel.rejectedAt ? .deadChannel : nil
                }
            }
        }
    }
}
