import SecurePushCore
import ServiceRuntime

/// Changes devices in the hub and here, one request at a time for each device (``DeviceLease``).
struct DeviceChanges: Sendable {
    let registrations: any RegistrationGateway
    let installations: any InstallationGateway
    let store: any RegistrationStore & InstallationStore & DeviceLeases

    /// How long a request waits for another one that is changing the same device.
    static let maxWait: Duration = .seconds(5)
    /// The same, where the other one may be waiting for this one.
    static let shortWait: Duration = .milliseconds(500)

    /// Does what a lease is for at the hub, then ends the lease with the change of the store.
    ///
    /// When the hub refuses, the store stays as it was. When it is not known what the hub has done, the store stays
    /// too, and ``HubReconciler`` brings the hub to its state.
    ///
    /// - Parameters:
    ///   - prepare: what comes before and does not change this device at the hub.
    ///   - ask: the one request to the hub.
    /// - Throws: ``PushGatewayError``, ``StorageError``; a ``Problem`` where another request took over.
    func perform(
        _ lease: DeviceLease, then change: DeviceLease.Change, prepare: () async throws -> Void = {},
        ask: () async throws -> Void
    ) async throws {
        let begin = ContinuousClock.now
        do {
            try await prepare()
        } catch {
            try await undo(lease)
            throw error
        }
        guard ContinuousClock.now - begin < DeviceLease.duration / 2 else {
            try await undo(lease)
            throw PushGatewayError(.unavailable, "the hub is slow")
        }
        do {
            try await ask()
        } catch let error as PushGatewayError where error.isRefusal {
            try await undo(lease)
            throw error
        } catch {
            // If this fails too, the lease expires by itself.
            try? await store.expire(lease, now: .now)
            throw error
        }
        guard try await store.end(lease, change, now: .now) else { throw Self.busy }
    }

    /// The hub has done nothing: the store, and the doubt, are as they were before the lease.
    private func undo(_ lease: DeviceLease) async throws {
        if lease.isInDoubt, !lease.isNew {
            try await store.expire(lease, now: .now)
        } else {
            _ = try await store.end(lease, lease.isNew ? .remove : .keep, now: .now)
        }
    }

    /// Takes a lease, and waits a little while another request has it.
    ///
    /// - Parameter wait: how long at most.
    /// - Returns: `nil` where the condition is not met.
    /// - Throws: ``Problem``: 422 where the user has too many installations, 503 where the device stays busy.
    func lease(
        _ kind: DeviceLease.Kind, _ id: String, if condition: DeviceLease.Condition, wait: Duration = Self.maxWait
    ) async throws -> DeviceLease? {
        let end = ContinuousClock.now + wait
        var pause = Duration.milliseconds(5)
        while true {
            switch try await store.lease(kind, id, if: condition, now: .now) {
            case .leased(let lease): return lease
            case .refused: return nil
            case .tooMany:
                throw Problem.unprocessable(
                    "You have \(Installation.maxPerUser) installations, which is the most that one user may have. "
                        + "Delete one that is no longer used, then try again.")
            case .busy:
                guard ContinuousClock.now < end else { throw Self.busy }
                try await Task.sleep(for: pause)
                pause = min(pause * 2, .milliseconds(200))
            }
        }
    }

    /// Removes a device from the hub and here.
    ///
    /// - Returns: whether the condition was met.
    @discardableResult
    func remove(
        _ kind: DeviceLease.Kind, _ id: String, if condition: DeviceLease.Condition, wait: Duration = Self.maxWait
    ) async throws -> Bool {
        guard let lease = try await lease(kind, id, if: condition, wait: wait) else { return false }
        try await perform(lease, then: .remove) { try await deleteAtHub(kind, lease.id) }
        return true
    }

    /// A device that the hub no longer knows is deleted already.
    func deleteAtHub(_ kind: DeviceLease.Kind, _ id: String) async throws {
        do {
            switch kind {
            case .installation: try await installations.deleteInstallation(id)
            case .registration: try await registrations.deleteRegistration(id)
            }
        } catch let error as PushGatewayError where error.code == .gone {}
    }

    /// Whether a hub is configured. Without one nothing is changed here either.
    ///
    /// - Throws: ``PushGatewayError``.
    func requireHub() throws {
        if registrations is NoHub { throw PushGatewayError(.unavailable, "no hub is configured") }
    }

    private static var busy: Problem {
        .serviceUnavailable("Another request is changing this device. Try again.", retryAfter: .seconds(1))
    }
}

extension PushGatewayError {
    /// Whether the hub has surely not done what it was asked.
    var isRefusal: Bool { code != .unavailable }
}
