import Domain
import Foundations
import ServiceRuntime

/// Changes devices in the hub and in the store, one request at a time per device (``DeviceLease``).
///
/// Decision: docs/decisions/0018-a-device-changes-under-a-lease.md
struct DeviceChanges: Sendable {
    typealias Stores = DeviceStore

    /// `nil` if no hub is configured: nothing can be changed then, neither there nor in the store.
    let hubs: DevicePlacer?
    let store: any Stores
    var removals: DeviceRemovals?

    /// - Parameter hubs: `nil` if none is configured.
    init(hubs: DevicePlacer.Hubs?, store: any Stores, removals: DeviceRemovals? = nil) {
        self.hubs = hubs.map { DevicePlacer($0, places: store) }
        self.store = store
        self.removals = removals
    }

    /// How long a request waits for another one that is changing the same device.
    static let maxWait: Duration = .seconds(5)
    /// How long a request waits if the other one may be waiting for this one.
    static let shortWait: Duration = .milliseconds(500)

    /// The hubs.
    ///
    /// - Throws: ``PushGatewayError`` if none is configured.
    var requiredHubs: DevicePlacer {
        get throws(PushGatewayError) {
            guard let hubs else { throw PushGatewayError(.unavailable, "no hub is configured") }
            return hubs
        }
    }

    /// Creates a registration ID for a device that registers later. If a handle is given, other devices with that
    /// handle are removed.
    ///
    /// - Throws: ``PushGatewayError``, ``StorageError``, ``Problem``.
    func createRegistration(owner: UserName, handle: String?) async throws -> String {
        let hubs = try requiredHubs
        // If the user may not have another device, the hub gets no request, and no device is taken over. The lease
        // checks again, together with all other requests of the user.
        guard let room = try await room(for: owner, handle: handle) else { throw Self.tooMany }
        if let handle { try await removeOthers(with: handle, keeping: nil) }
        let id = try await hubs.createRegistrationID(for: owner)
        guard let lease = try await lease(.registration, id, if: room) else {
            throw PushGatewayError(.unavailable, "the hub gave a registration ID that is in use")
        }
        let registration = Registration(id: id, owner: owner, handle: handle, updatedAt: .now)
        let handles = handle.map(DeviceHandle.spellings) ?? []
        try await perform(lease, then: .saveRegistration(registration, handles: handles)) {
            try await hubs.noteNew(lease, of: owner)
        }
        return id
    }

    /// Registers a device with the hub, removes other devices with its handle, and saves it in the store.
    ///
    /// - Parameter change: the `save` change for an ID, which may differ from `id` in the case of its letters.
    /// - Returns: whether the condition was met.
    /// - Throws: ``PushGatewayError``, ``StorageError``, ``Problem``.
    func register(
        _ kind: DeviceLease.Kind, _ id: String, handle: String, if condition: DeviceLease.Condition,
        change: (_ id: String) -> DeviceLease.Change
    ) async throws -> Bool {
        let hubs = try requiredHubs
        guard let lease = try await lease(kind, id, if: condition) else { return false }
        let change = change(lease.id)
        try await perform(lease, then: change) {
            try await removeOthers(with: handle, keeping: KeptDevice(kind: kind, id: lease.id))
        } ask: {
            switch change {
            case .saveInstallation(let installation, _): try await hubs.put(.installation(installation), lease)
            case .saveRegistration(let registration, _): try await hubs.put(.registration(registration), lease)
            case .keep, .remove: break
            }
        }
        if kind == .registration { try await keepNewestRegistration(of: handle) }
        return true
    }

    /// Removes a device from the hub and the store.
    ///
    /// - Parameters:
    ///   - reason: `nil` for a device that is only in the hub, and so is not counted.
    ///   - hub: the one of several hubs that lists a device which is only there.
    /// - Returns: whether the condition was met.
    @discardableResult
    func remove(
        _ kind: DeviceLease.Kind, _ id: String, if condition: DeviceLease.Condition,
        because reason: DeviceRemoval? = .user, foundAt hub: String? = nil, wait: Duration = Self.maxWait
    ) async throws -> Bool {
        let hubs = try requiredHubs
        guard let lease = try await lease(kind, id, if: condition, wait: wait) else { return false }
        try await perform(lease, then: .remove, ask: { try await hubs.delete(lease, foundAt: hub) })
        if let reason { removals?.count(reason) }
        return true
    }

    /// Makes the hub request that a lease is for, then ends the lease with the change of the store.
    ///
    /// If the hub refuses, the store stays as it was. If the result at the hub is unknown, the store stays too, and
    /// ``HubReconciler`` restores its state in the hub.
    ///
    /// - Parameters:
    ///   - prepare: runs before the request and does not change this device at the hub.
    ///   - ask: the one request to the hub.
    /// - Throws: ``PushGatewayError``, ``StorageError``; ``Problem`` if another request took over the device.
    func perform(
        _ lease: DeviceLease, then change: DeviceLease.Change, prepare: () async throws -> Void = {},
        ask: () async throws -> Void
    ) async throws {
        let start = ContinuousClock.now
        do {
            try await prepare()
        } catch var error as PushGatewayError {
            try await undo(lease)
            // The hub refuses the change of another device, which says nothing about this one.
            error.refusal = nil
            throw error
        } catch {
            try await undo(lease)
            throw error
        }
        guard ContinuousClock.now - start < DeviceLease.duration / 2 else {
            try await undo(lease)
            throw PushGatewayError(.unavailable, "the hub is slow")
        }
        do {
            try await ask()
        } catch let error as PushGatewayError where error.code == .gone {
            try await forget(lease, change)
            throw error
        } catch let error as PushGatewayError where error.code != .unavailable {
            // The hub has definitely not made the change.
            try await undo(lease)
            throw error
        } catch {
            // If this fails too, the lease expires by itself.
            try? await store.expire(lease, now: .now)
            throw error
        }
        guard try await store.end(lease, change, now: .now) else { throw Self.busy }
    }

    /// Restores the state from before the lease: the hub has changed nothing.
    func undo(_ lease: DeviceLease) async throws {
        if lease.isInDoubt, !lease.isNew {
            try await store.expire(lease, now: .now)
        } else {
            _ = try await store.end(lease, lease.isNew ? .remove : .keep, now: .now)
        }
    }

    /// Takes a lease. While another request has it, waits for up to `wait`.
    ///
    /// - Returns: `nil` if the condition is not met.
    /// - Throws: ``Problem``: 422 if the user has too many devices, 503 if the device stays busy.
    private func lease(
        _ kind: DeviceLease.Kind, _ id: String, if condition: DeviceLease.Condition, wait: Duration = Self.maxWait
    ) async throws -> DeviceLease? {
        let end = ContinuousClock.now + wait
        var pause = Duration.milliseconds(5)
        while true {
            switch try await store.lease(kind, id, if: condition, now: .now) {
            case .leased(let lease): return lease
            case .refused: return nil
            case .tooMany: throw Self.tooMany
            case .busy:
                guard ContinuousClock.now < end else { throw Self.busy }
                try await Task.sleep(for: pause)
                pause = min(pause * 2, .milliseconds(200))
            }
        }
    }

    /// The condition under which the user may have another device, besides those with the handle, which it replaces;
    /// `nil` if there is none.
    private func room(for owner: UserName, handle: String?) async throws -> DeviceLease.Condition? {
        var replaced = 0
        for handle in handle.map(DeviceHandle.spellings) ?? [] {
            replaced += try await store.installations(handle: handle).count { $0.owner == owner }
            replaced += try await store.registrations(handle: handle).count { $0.owner == owner && $0.platform != nil }
        }
        let limit = Installation.maxPerUser + replaced
        if try await store.devices(of: owner, limit: limit).count < limit { return .new(for: owner) }
        // A user who has had more devices since before the limit existed may still replace one by another.
        return replaced > 0 ? .absent : nil
    }

    private static var tooMany: Problem {
        .unprocessable(
            "You have \(Installation.maxPerUser) installations and registrations, the maximum per user. "
                + "Delete one that you no longer use, or all with `DELETE /api/devices`, then try again.")
    }

    private static var busy: Problem {
        .serviceUnavailable("Another request is changing this device. Try again.", retryAfter: .seconds(1))
    }
}
