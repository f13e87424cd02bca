import Logging
import SecurePushCore

/// Asks the hub for devices that were registered past this system with a handle that is new here, and removes them.
///
/// This happens after the device has its answer, one handle after another and slowly, because the hub allows about 60
/// listings a minute and all processes share them. The handles wait in the store, beside the devices that have them: a
/// crash loses none, and there are never more than devices.
struct NewHandleSearch: Sendable {
    let changes: DeviceChanges
    let logger: Logger

    /// A listing of this process every three seconds at most, when the hub does not complain.
    private static let interval: Duration = .seconds(3)
    private static let pauseWithoutWork: Duration = .seconds(1)
    private static let pauseAfterThrottling: Duration = .seconds(60)
    private static let maxPause: Duration = .seconds(900)
    /// How long other processes, and this one after a failure, leave a handle alone.
    private static let leaseDuration: Duration = .seconds(300)

    /// Looks for one handle.
    ///
    /// - Returns: how long to rest.
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
                "The hub was not asked for devices with a new handle; it is asked again later",
                metadata: ["hub.error": "\(error.code)"])
            return min(max(error.retryAfter ?? Self.pauseAfterThrottling, Self.interval), Self.maxPause)
        } catch {
            logger.debug("The hub was not asked for devices with a new handle", metadata: ["error": "\(error)"])
            return Self.interval
        }
    }

    private func search(_ handle: String) async throws {
        for found in try await listed(handle) {
            let (kind, id): (DeviceLease.Kind, String) =
                found.installationID.map { (.installation, $0) } ?? (.registration, found.id)
            do {
                // What the store knows has the handle by right: takeover has removed the others.
                try await changes.remove(kind, id, if: .absent)
            } catch let error as PushGatewayError where error.code == .rejected {
                logger.warning("The hub does not remove a device that was registered past this system")
            }
        }
    }

    private func listed(_ handle: String) async throws -> [HubRegistration] {
        do {
            return try await changes.registrations.registrations(handle: handle)
        } catch let error as PushGatewayError where error.code == .rejected {
            // Asking again would end the same.
            logger.warning("The hub does not list the devices with a handle")
            return []
        }
    }
}
