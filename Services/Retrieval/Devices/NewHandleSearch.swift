import Domain
import Foundations
import Logging

/// Finds devices in the hub that were registered without this service and have a handle that is new here, and removes
/// them.
///
/// It runs after the device has its response, for one handle after another and slowly, because the hub allows about 60
/// listings per minute for all processes together. The handles wait in the store, next to the devices that have them: a
/// crash loses none, and there are never more of them than devices.
///
/// Decision: docs/decisions/0017-own-copy-of-the-devices.md
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
            // Each hub has been listed once per spelling, and has its own limit.
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
        for (hub, found) in try await listed(handle) {
            let (kind, id): (DeviceLease.Kind, String) =
                found.installationID.map { (.installation, $0) } ?? (.registration, found.id)
            do {
                // Devices in the store have the handle legitimately: takeover has removed the others.
                try await changes.remove(kind, id, if: .absent, because: nil, foundAt: hub)
            } catch let error as PushGatewayError where error.code == .rejected {
                logger.warning("The hub refuses to remove a device that was registered without this service")
            }
        }
    }

    private func listed(_ handle: String) async throws -> [(hub: String?, registration: HubRegistration)] {
        do {
            return try await changes.requiredHubs.registrations(handle: handle)
        } catch let error as PushGatewayError where error.code == .rejected {
            // A retry would have the same result.
            logger.warning("The hub refuses to list the devices with a handle")
            return []
        }
    }
}
