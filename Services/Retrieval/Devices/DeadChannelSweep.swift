import Domain
import Foundations
import Logging
import Synchronization

/// Removes devices whose push channel is dead according to the hub's feedback (`HUB_TELEMETRY`).
///
/// After a start all feedback is read again. That is harmless: a device that registered its handle later than the
/// rejection stays.
final class DeadChannelSweep: Sendable {
    /// The feedback of each hub, by its name.
    typealias Source = @Sendable () -> [(hub: String, feedback: any HubFeedback)]

    private let changes: DeviceChanges
    private let source: Source
    private let logger: Logger
    private let hubs = Mutex<[String: Hub]>([:])

    /// One hub's feedback.
    private struct Hub {
        let problem = LastingProblemLog(
            "The hub's feedback cannot be read", end: "The hub's feedback is read again")
        /// When it is read next.
        var due = ContinuousClock.now
        /// The feedback that needs no more work.
        var versions: [String: String] = [:]
        /// Of the last page only, so there are never more than the hub lists. A file without a version is read each
        /// time.
        var channels: Set<DeadChannel> = []
    }

    private static let interval: Duration = .seconds(10)
    /// The rule of the connection string may lack the Manage right, or the tier may have no feedback.
    private static let pauseAfterRefusal: Duration = .seconds(300)

    init(changes: DeviceChanges, feedback source: @escaping Source, logger: Logger) {
        self.changes = changes
        self.source = source
        self.logger = logger
    }

    /// Reads new feedback of each hub that is due, and removes the devices that it names.
    ///
    /// - Returns: the pause before the next sweep.
    func sweep() async -> Duration {
        let source = source()
        hubs.withLock { hubs in hubs = hubs.filter { known in source.contains { $0.hub == known.key } } }
        var pauses: [Duration] = []
        for (name, feedback) in source {
            var hub = hubs.withLock { $0[name] } ?? Hub()
            let now = ContinuousClock.now
            // The pause of one hub must not delay the others.
            if source.count == 1 || hub.due <= now {
                let pause = await sweep(&hub, feedback)
                hub.due = .now + pause
                hubs.withLock { [hub] in $0[name] = hub }
                pauses.append(pause)
            } else {
                pauses.append(now.duration(to: hub.due))
            }
        }
        return pauses.min() ?? Self.interval
    }

    private func sweep(_ hub: inout Hub, _ feedback: any HubFeedback) async -> Duration {
        do {
            let page = try await feedback.feedback(after: hub.versions)
            let channels = Set(page.channels)
            for channel in channels where !hub.channels.contains(channel) { try await remove(channel) }
            (hub.versions, hub.channels) = (page.versions, channels)
            hub.problem.succeeded(to: logger)
            return Self.interval
        } catch {
            return hub.problem.pause(
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
