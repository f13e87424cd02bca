import Logging
import SecurePushCore
import ServiceLifecycle

/// The background work on devices, until shutdown.
struct DeviceUpkeep: Service {
    let reconciler: HubReconciler
    let search: NewHandleSearch
    let due: DueDeviceSweep
    /// `nil` without several hubs.
    let strays: StrayDeviceSweep?
    /// `nil` without `HUB_TELEMETRY`.
    let deadChannels: DeadChannelSweep?

    /// - Parameters:
    ///   - staleAfter: `DEVICE_STALE_AFTER`.
    ///   - feedback: reads the feedback of the hub, or of each hub, with `HUB_TELEMETRY`.
    init(
        changes: DeviceChanges, staleAfter: Duration = .seconds(270 * 86_400),
        feedback: DeadChannelSweep.Source? = nil, logger: Logger
    ) {
        reconciler = HubReconciler(changes: changes, logger: logger)
        search = NewHandleSearch(changes: changes, logger: logger)
        due = DueDeviceSweep(changes: changes, staleAfter: staleAfter, logger: logger)
        strays = StrayDeviceSweep(changes: changes, logger: logger)
        deadChannels = feedback.map { DeadChannelSweep(changes: changes, feedback: $0, logger: logger) }
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                group.addTask { await Self.repeating { await reconciler.sweep() } }
                group.addTask { await Self.repeating { await search.searchNext() } }
                group.addTask { await Self.repeating { await due.sweep() } }
                if let strays { group.addTask { await Self.repeating { await strays.sweep() } } }
                if let deadChannels { group.addTask { await Self.repeating { await deadChannels.sweep() } } }
            }
        }
    }

    private static func repeating(_ body: () async -> Duration) async {
        while !Task.isCancelled {
            let pause = await body()
            // Throws if the task is cancelled, which ends the loop.
            try? await Task.sleep(for: pause)
        }
    }
}

extension LastingProblemLog {
    /// Notes why a sweep of devices failed.
    ///
    /// - Parameters:
    ///   - interval: the usual pause.
    ///   - refusalPause: the pause if the hub refuses the credentials or the request; `nil` for the usual one.
    /// - Returns: the pause before the next sweep.
    func pause(
        afterSweep error: any Error, interval: Duration, ifRefused refusalPause: Duration? = nil, to logger: Logger
    ) -> Duration {
        switch error {
        case let error as PushGatewayError:
            failed("\(error.code)", to: logger)
            let isRefusal = error.code == .unauthorized || error.code == .rejected
            return max(error.retryAfter ?? .zero, isRefusal ? refusalPause ?? interval : interval)
        case let error as StorageError where error.isRetriable:
            // While the service starts, and while the database is away, which its own log lines say.
            logger.debug("The store was not available to a sweep of devices", metadata: ["error": "\(error)"])
        default: failed("\(error)", to: logger)
        }
        return interval
    }
}

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
