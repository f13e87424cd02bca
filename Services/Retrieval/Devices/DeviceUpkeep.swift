import Logging
import SecurePushCore
import ServiceLifecycle

/// The background work on devices, until shutdown.
struct DeviceUpkeep: Service {
    let reconciler: HubReconciler
    let search: NewHandleSearch

    init(changes: DeviceChanges, logger: Logger) {
        reconciler = HubReconciler(changes: changes, logger: logger)
        search = NewHandleSearch(changes: changes, logger: logger)
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                group.addTask { await Self.repeating { await reconciler.sweep() } }
                group.addTask { await Self.repeating { await search.searchNext() } }
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

/// Restores the store's state in the hub, for devices whose change did not finish: because of a crash, or because the
/// hub did not answer.
struct HubReconciler: Sendable {
    let changes: DeviceChanges
    let logger: Logger

    /// Devices per sweep.
    private static let maxDevices = 50
    private static let interval: Duration = .seconds(1)
    /// The pause after a failure for which the hub names no delay.
    private static let pauseAfterFailure: Duration = .seconds(5)

    /// Reconciles some devices.
    ///
    /// - Returns: the pause before the next sweep.
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
        // Another process may have the lease by now.
        guard case .leased(let lease) = try await changes.store.lease(device.kind, device.id, if: .any, now: .now)
        else { return }
        do {
            let change = try await bringUpToDate(lease)
            _ = try await changes.store.end(lease, change, now: .now)
        } catch {
            // Retried later, after the other devices. If this fails too, the lease expires by itself.
            try? await changes.store.expire(lease, now: .now)
            throw error
        }
    }

    /// - Returns: the change for the store.
    private func bringUpToDate(_ lease: DeviceLease) async throws -> DeviceLease.Change {
        let hub = try changes.requiredHub
        do {
            switch lease.kind {
            case .installation:
                if let known = try await changes.store.installation(lease.id) {
                    try await hub.put(known)
                    return .keep
                }
            case .registration:
                if let known = try await changes.store.registration(lease.id) {
                    // An ID whose device is not registered yet stays its owner's.
                    if try await !hub.put(known) { try await hub.delete(.registration, known.id) }
                    return .keep
                }
            }
        } catch let error as PushGatewayError where error.code == .rejected || error.code == .gone {
            // Permanent. The device registers again at its next start.
            logger.warning("A device is removed because the hub rejects it", metadata: ["hub.error": "\(error.code)"])
        }
        try await hub.delete(lease.kind, lease.id)
        return .remove
    }
}

/// Finds devices in the hub that were registered without this service and have a handle that is new here, and removes
/// them.
///
/// It runs after the device has its response, for one handle after another and slowly, because the hub allows about 60
/// listings per minute for all processes together. The handles wait in the store, next to the devices that have them: a
/// crash loses none, and there are never more of them than devices.
struct NewHandleSearch: Sendable {
    let changes: DeviceChanges
    let logger: Logger

    /// At most one listing per three seconds and process, unless the hub asks for less.
    private static let interval: Duration = .seconds(3)
    private static let pauseWithoutWork: Duration = .seconds(1)
    private static let pauseAfterThrottling: Duration = .seconds(60)
    private static let maxPause: Duration = .seconds(900)
    /// How long other processes, and this one after a failure, ignore a handle.
    private static let leaseDuration: Duration = .seconds(300)

    /// Searches for one handle.
    ///
    /// - Returns: the pause before the next search.
    func searchNext(now: Timestamp = .now) async -> Duration {
        do {
            let until = now + Self.leaseDuration
            guard let handle = try await changes.store.leaseNewHandle(now: now, until: until) else {
                return Self.pauseWithoutWork
            }
            let handles = DeviceHandle.spellings(handle)
            for handle in handles { try await search(handle) }
            try await changes.store.settleNewHandle(handles)
            return Self.interval * handles.count
        } catch let error as PushGatewayError {
            logger.warning(
                "The hub could not be asked for devices with a new handle; retrying later",
                metadata: ["hub.error": "\(error.code)"])
            return min(max(error.retryAfter ?? Self.pauseAfterThrottling, Self.interval), Self.maxPause)
        } catch {
            logger.debug("The search for devices with a new handle failed", metadata: ["error": "\(error)"])
            return Self.interval
        }
    }

    private func search(_ handle: String) async throws {
        for found in try await listed(handle) {
            let (kind, id): (DeviceLease.Kind, String) =
                found.installationID.map { (.installation, $0) } ?? (.registration, found.id)
            do {
                // Devices in the store have the handle legitimately: takeover has removed the others.
                try await changes.remove(kind, id, if: .absent)
            } catch let error as PushGatewayError where error.code == .rejected {
                logger.warning("The hub refuses to remove a device that was registered without this service")
            }
        }
    }

    private func listed(_ handle: String) async throws -> [HubRegistration] {
        do {
            return try await changes.requiredHub.registrations(handle: handle)
        } catch let error as PushGatewayError where error.code == .rejected {
            // A retry would have the same result.
            logger.warning("The hub refuses to list the devices with a handle")
            return []
        }
    }
}
