import Foundations

/// Registers devices at their users' hubs, and removes them from all hubs at which they may be. All calls are made with
/// the device's lease held.
///
/// With one hub it only passes the calls on. With several (`HUB_POOL_FILE`) the store has the places of each device. A
/// place is stored before the hub is asked to take the device, and removed after the hub has deleted it, so a crash
/// never leaves a device at a hub that nobody knows of.
///
/// Decision: docs/decisions/0018-a-device-changes-under-a-lease.md
package struct DevicePlacer: Sendable {
    /// A hub, as far as devices are concerned.
    package typealias Hub = RegistrationGateway & InstallationGateway

    /// The hubs of this system.
    package enum Hubs: Sendable {
        case single(any Hub)
        /// Several, as the file names them at the moment.
        case pool(@Sendable () -> HubTable<any Hub>)
    }

    package let hubs: Hubs
    private let places: any DeviceStore

    /// - Parameter places: the store.
    package init(_ hubs: Hubs, places: any DeviceStore) {
        self.hubs = hubs
        self.places = places
    }

    /// Whether there is a pool of hubs.
    package var areSeveral: Bool { if case .pool = hubs { true } else { false } }

    /// Asks the user's hub for a registration ID.
    package func createRegistrationID(for owner: UserName) async throws -> String {
        switch hubs {
        case .single(let hub): try await hub.createRegistrationID()
        case .pool(let table): try await table().member(for: owner).client.createRegistrationID()
        }
    }

    /// Stores that a new registration ID is the user's hub's, where no other hub can have its device yet.
    package func noteNew(_ lease: DeviceLease, of owner: UserName) async throws {
        guard case .pool(let table) = hubs else { return }
        try await set([DevicePlace(hub: table().member(for: owner).name)], lease)
    }

    /// Puts a device at its user's hub, and deletes it at all other hubs where it may be. If one of those does not
    /// answer, its place stays in the store and `securepush hubs rebalance` deletes the device there; no push of the
    /// user goes there meanwhile.
    ///
    /// - Returns: false if the device is only an ID, which no hub has.
    /// - Throws: ``PushGatewayError`` of the user's hub, ``StorageError``.
    @discardableResult
    package func put(_ device: StoredDevice, _ lease: DeviceLease) async throws -> Bool {
        switch hubs {
        case .single(let hub): return try await hub.put(device, lease.id)
        case .pool(let table):
            if device.isIncomplete { return false }
            _ = try await move(device, lease, table(), always: true)
            return true
        }
    }

    /// Puts a device at its user's hub, unless the hub has this version of it, and leaves it at the other hubs.
    ///
    /// - Throws: ``PushGatewayError``, ``StorageError``.
    package func copy(_ device: StoredDevice, _ lease: DeviceLease) async throws {
        guard case .pool(let source) = hubs, !device.isIncomplete else { return }
        let table = source()
        let recorded = try await recorded(lease)
        let target = table.member(for: device.owner)
        let place = DevicePlace(hub: target.name, content: device.fingerprint)
        if recorded.contains(place) { return }
        try await put(device, lease, at: target, recorded, table)
        try await set([place] + known(recorded, lease, table).filter { $0.hub != target.name }, lease)
    }

    /// Puts a device at its user's hub, unless the hub has this version of it, and deletes it at all other hubs where
    /// it may be.
    ///
    /// - Returns: the hubs of the pool that have not deleted it.
    /// - Throws: ``PushGatewayError`` of the user's hub, ``StorageError``.
    package func move(_ device: StoredDevice, _ lease: DeviceLease) async throws -> [String] {
        guard case .pool(let source) = hubs, !device.isIncomplete else { return [] }
        let table = source()
        let left = try await move(device, lease, table, always: lease.isInDoubt)
        return left.filter { table.member(named: $0) != nil }
    }

    /// Deletes a device at all hubs where it may be. A hub that has left the pool cannot be asked: its place stays in
    /// the store, so that the device is deleted there if the hub comes back.
    ///
    /// - Parameter found: a hub that has listed the device, which the store does not know.
    /// - Throws: ``PushGatewayError``, ``StorageError``. After an error with code `unavailable` some hubs may have
    ///   deleted it.
    package func delete(_ lease: DeviceLease, foundAt found: String? = nil) async throws {
        switch hubs {
        case .single(let hub): try await hub.delete(lease.kind, lease.id)
        case .pool(let table):
            let table = table()
            let recorded = try await self.recorded(lease)
            let known = found.map { name in recorded.map(\.hub) + [name] } ?? fallback(recorded, table).map(\.hub)
            let end = ContinuousClock.now + Self.maxTime
            var isFirst = true
            for member in table.members where known.contains(member.name) {
                do {
                    guard isFirst || ContinuousClock.now < end else {
                        throw PushGatewayError(.unavailable, "the hubs are slow")
                    }
                    try await member.client.delete(lease.kind, lease.id)
                } catch let error as PushGatewayError where !isFirst && error.code != .unavailable {
                    // One hub has deleted it already, so the state before the request is gone.
                    throw PushGatewayError(.unavailable, error.message, retryAfter: error.retryAfter)
                }
                isFirst = false
            }
            let left = recorded.filter { table.member(named: $0.hub) == nil }.map { DevicePlace(hub: $0.hub) }
            if Set(left) != Set(recorded) { try await set(left, lease) }
        }
    }

    /// Deletes a device that is not stored any more, at the hubs where it may still be. It was put at a hub that the
    /// services did not know when it was removed, or at one that has left the pool and is back.
    ///
    /// - Returns: the hubs that have deleted it, and the hubs of the pool that have not. Both are empty if it has no
    ///   place in the pool; then no hub is asked.
    /// - Throws: ``PushGatewayError`` if the lease is lost, ``StorageError``.
    package func deleteStray(_ lease: DeviceLease) async throws -> (deleted: [String], left: [String]) {
        guard case .pool(let source) = hubs else { return ([], []) }
        let table = source()
        let recorded = try await recorded(lease)
        let asked = recorded.map(\.hub).filter { table.member(named: $0) != nil }
        if asked.isEmpty { return ([], []) }
        let end = ContinuousClock.now + Self.maxTime
        let left = await deleteIfPossible(recorded.map(\.hub), lease, table, until: end)
        let now = left.map { DevicePlace(hub: $0) }
        if Set(now) != Set(recorded) { try await set(now, lease) }
        return (asked.filter { !left.contains($0) }, asked.filter { left.contains($0) })
    }

    /// The devices with a handle at all hubs.
    ///
    /// - Returns: the name of the hub is `nil` for a single one.
    package func registrations(handle: String) async throws -> [(hub: String?, registration: HubRegistration)] {
        switch hubs {
        case .single(let hub):
            return try await hub.registrations(handle: handle).map { (nil, $0) }
        case .pool(let table):
            var found: [(hub: String?, registration: HubRegistration)] = []
            for member in table().members {
                found += try await member.client.registrations(handle: handle).map { (member.name, $0) }
            }
            return found
        }
    }
}

extension DevicePlacer {
    /// After this time no further hub is asked. A call begins in the first half of its lease, and the last request may
    /// take ten seconds, so none is in flight when the lease expires.
    private static let maxTime = Duration.seconds(5)

    private func recorded(_ lease: DeviceLease) async throws -> [DevicePlace] {
        try await places.places(of: lease.kind, [lease.id])[DeviceID.folded(lease.id)] ?? []
    }

    /// A device without places was registered before there was a pool: any hub of it may have it.
    private func fallback(_ recorded: [DevicePlace], _ table: HubTable<any Hub>) -> [DevicePlace] {
        recorded.isEmpty ? table.members.map { DevicePlace(hub: $0.name) } : recorded
    }

    /// The places where a device may be.
    private func known(
        _ recorded: [DevicePlace], _ lease: DeviceLease, _ table: HubTable<any Hub>
    ) -> [DevicePlace] {
        lease.isNew ? recorded : fallback(recorded, table)
    }

    /// - Parameter always: whether the hub is asked even if it has this version of the device.
    /// - Returns: the hubs that have not deleted the device.
    private func move(
        _ device: StoredDevice, _ lease: DeviceLease, _ table: HubTable<any Hub>, always: Bool
    ) async throws -> [String] {
        let end = ContinuousClock.now + Self.maxTime
        let recorded = try await recorded(lease)
        let target = table.member(for: device.owner)
        let place = DevicePlace(hub: target.name, content: device.fingerprint)
        if always || !recorded.contains(place) { try await put(device, lease, at: target, recorded, table) }
        let others = known(recorded, lease, table).map(\.hub).filter { $0 != target.name }
        let left = await deleteIfPossible(others, lease, table, until: end)
        let now = [place] + left.map { DevicePlace(hub: $0) }
        if Set(now) != Set(recorded) { try await set(now, lease) }
        return left
    }

    /// Stores the place, then asks the hub. If the hub refuses, the places are as before.
    private func put(
        _ device: StoredDevice, _ lease: DeviceLease, at target: HubTable<any Hub>.Member, _ recorded: [DevicePlace],
        _ table: HubTable<any Hub>
    ) async throws {
        let isStored = recorded.contains { $0.hub == target.name }
        if !isStored {
            let others = known(recorded, lease, table).filter { $0.hub != target.name }
            try await set(others + [DevicePlace(hub: target.name)], lease)
        }
        do {
            _ = try await target.client.put(device, lease.id)
        } catch let error as PushGatewayError where error.code != .unavailable && !isStored {
            try? await set(recorded, lease)
            throw error
        }
    }

    /// - Returns: the hubs that have not deleted the device.
    private func deleteIfPossible(
        _ names: [String], _ lease: DeviceLease, _ table: HubTable<any Hub>, until end: ContinuousClock.Instant
    ) async -> [String] {
        var left: [String] = []
        for name in names {
            do {
                guard let member = table.member(named: name), ContinuousClock.now < end else {
                    left.append(name)
                    continue
                }
                try await member.client.delete(lease.kind, lease.id)
            } catch {
                left.append(name)
            }
        }
        return left
    }

    private func set(_ new: [DevicePlace], _ lease: DeviceLease) async throws {
        guard try await places.setPlaces(new, of: lease) else {
            throw PushGatewayError(.unavailable, "another request has taken over the device")
        }
    }
}

extension InstallationGateway where Self: RegistrationGateway {
    /// Puts a device under the ID of its lease.
    ///
    /// - Returns: false if the device is only an ID, which has not been registered yet.
    package func put(_ device: StoredDevice, _ id: String) async throws -> Bool {
        switch device {
        case .installation(let installation):
            try await putInstallation(id, document: installation.document)
        case .registration(let registration):
            guard let platform = registration.platform, let handle = registration.handle else { return false }
            try await putRegistration(id, platform: platform, handle: handle, tags: registration.tags)
        }
        return true
    }

    /// Deletes a device. One that the hub no longer knows counts as deleted.
    package func delete(_ kind: DeviceLease.Kind, _ id: String) async throws {
        do {
            switch kind {
            case .installation: try await deleteInstallation(id)
            case .registration: try await deleteRegistration(id)
            }
        } catch let error as PushGatewayError where error.code == .gone {}
    }
}
