extension MemoryStore {
    /// A device of either kind, by its folded ID.
    struct DeviceKey: Hashable {
        var kind: DeviceLease.Kind
        var id: [UInt8]
    }

    /// A lease that has not ended.
    struct HeldLease {
        var id: String
        var token: Int64
        var until: Timestamp
        /// The user who claims an installation with it.
        var claimant: UserName?
    }
}

extension MemoryStore: DeviceLeases {
    package func lease(
        _ kind: DeviceLease.Kind, _ id: String, if condition: DeviceLease.Condition, now: Timestamp
    ) async throws -> DeviceLease.Outcome {
        let key = DeviceKey(kind: kind, id: MemoryStore.key(id))
        let known = device(key)
        guard isMet(condition, by: known) else { return .refused }
        if let held = deviceLeases[key], held.until > now { return .busy }
        var lease = DeviceLease(
            kind: kind, id: known?.id ?? id, token: .random(in: .min ... .max), isInDoubt: deviceLeases[key] != nil)
        var claimant: UserName?
        if case .new(let user) = condition {
            claimant = user
            guard count(of: user, besides: key, handles: []) < Installation.maxPerUser else { return .tooMany }
        }
        if case .claimed(let installation, let handles) = condition {
            claimant = installation.owner
            if known?.owner != installation.owner {
                guard count(of: installation.owner, besides: key, handles: handles) < Installation.maxPerUser else {
                    return .tooMany
                }
            }
            if known == nil {
                noteHandle(handles, of: key, now: now)
                installations[key.id] = installation
                installations[key.id]?.encryptionKey = nil
                lease.isNew = true
            }
        }
        deviceLeases[key] = HeldLease(
            id: lease.id, token: lease.token, until: now + DeviceLease.duration, claimant: claimant)
        return .leased(lease)
    }

    package func end(
        _ lease: DeviceLease, _ change: DeviceLease.Change, now: Timestamp
    ) async throws -> Bool {
        let key = DeviceKey(kind: lease.kind, id: MemoryStore.key(lease.id))
        guard deviceLeases[key]?.token == lease.token else { return false }
        deviceLeases[key] = nil
        switch change {
        case .keep: break
        case .remove:
            newHandles[key] = nil
            switch lease.kind {
            case .installation: installations[key.id] = nil
            case .registration: registrations[key.id] = nil
            }
        case .saveInstallation(var installation, let handles):
            noteHandle(handles, of: key, now: now)
            // The first spelling stays.
            installation.id = installations[key.id]?.id ?? installation.id
            let known = installations[key.id]
            if let known, known.hasContent(of: installation) { installation.updatedAt = known.updatedAt }
            installation.encryptionKey = known?.owner == installation.owner ? known?.encryptionKey : nil
            installations[key.id] = installation
        case .saveRegistration(var registration, let handles):
            noteHandle(handles, of: key, now: now)
            registration.id = registrations[key.id]?.id ?? registration.id
            registrations[key.id] = registration
        }
        return true
    }

    package func expire(_ lease: DeviceLease, now: Timestamp) async throws {
        let key = DeviceKey(kind: lease.kind, id: MemoryStore.key(lease.id))
        if deviceLeases[key]?.token == lease.token { deviceLeases[key]?.until = now }
    }

    package func expiredLeases(limit: Int, now: Timestamp) async throws -> [DeviceLease.Expired] {
        deviceLeases.filter { $0.value.until <= now }
            .sorted { $0.value.until < $1.value.until }
            .prefix(max(limit, 0))
            .map { DeviceLease.Expired(kind: $0.key.kind, id: $0.value.id) }
    }

    package func leaseNewHandle(now: Timestamp, until: Timestamp) async throws -> String? {
        let waiting = newHandles.filter { $0.value <= now }.min { $0.value < $1.value }
        guard let key = waiting?.key else { return nil }
        newHandles[key] = until
        return device(key)?.handle
    }

    package func settleNewHandle(_ handles: [String]) async throws {
        for key in newHandles.keys where device(key)?.handle.map({ isOne($0, of: handles) }) ?? true {
            newHandles[key] = nil
        }
    }

    private typealias Known = (id: String, owner: UserName, handle: String?)

    private func device(_ key: DeviceKey) -> Known? {
        switch key.kind {
        case .installation: installations[key.id].map { ($0.id, $0.owner, $0.handle) }
        case .registration: registrations[key.id].map { ($0.id, $0.owner, $0.handle) }
        }
    }

    private func isMet(_ condition: DeviceLease.Condition, by known: Known?) -> Bool {
        switch condition {
        case .owned(let user): known?.owner == user
        case .claimed(let installation, let handles):
            known.map { $0.owner == installation.owner || isOne($0.handle, of: handles) } ?? true
        case .holding(let handles): isOne(known?.handle, of: handles)
        case .absent, .new: known == nil
        case .any: true
        }
    }

    /// The user's devices, and those that the user is claiming at this moment.
    private func count(of owner: UserName, besides claimed: DeviceKey, handles: [String]) -> Int {
        let installed = installations.values.count { $0.owner == owner && !isOne($0.handle, of: handles) }
        let registered = registrations.values.count { found in
            found.owner == owner && (found.platform == nil || !isOne(found.handle, of: handles))
        }
        let claims = deviceLeases.count { key, lease in
            lease.claimant == owner && key != claimed && device(key)?.owner != owner
        }
        return installed + registered + claims
    }

    /// Notes that the hub is to be asked for a handle, unless it was, when a device had it that is still here.
    private func noteHandle(_ handles: [String], of key: DeviceKey, now: Timestamp) {
        if handles.isEmpty { return newHandles[key] = nil }
        let holders =
            installations.filter { isOne($0.value.handle, of: handles) }.keys
            .map { DeviceKey(kind: .installation, id: $0) }
            + registrations.filter { isOne($0.value.handle, of: handles) }.keys
            .map { DeviceKey(kind: .registration, id: $0) }
        if holders.contains(where: { newHandles[$0] == nil }) { return newHandles[key] = nil }
        newHandles[key] = holders.contains(key) ? newHandles[key] ?? now : now
    }

    private func isOne(_ handle: String?, of handles: [String]) -> Bool {
        guard let handle else { return false }
        return handles.contains { $0.hasBytes(of: handle) }
    }
}

extension String {
    /// Whether two texts are the same bytes. Canonically equivalent ones are equal but not the same; that comparison is
    /// the quick one, and mostly ends it.
    func hasBytes(of other: String) -> Bool { self == other && utf8.elementsEqual(other.utf8) }
}

extension MemoryStore: RegistrationStore {
    package func registration(_ id: String, owner: UserName) async throws -> Registration? {
        guard let registration = registrations[MemoryStore.key(id)], registration.owner == owner else { return nil }
        return registration
    }

    package func registration(_ id: String) async throws -> Registration? { registrations[MemoryStore.key(id)] }

    package func registrations(handle: String) async throws -> [Registration] {
        registrations.values
            .filter { $0.handle?.hasBytes(of: handle) ?? false }
            .sorted { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
    }

    package func registrations(after id: String?, limit: Int) async throws -> [Registration] {
        registrations.values
            .filter { found in id.map { $0.utf8.lexicographicallyPrecedes(found.id.utf8) } ?? true }
            .sorted { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
            .prefix(max(limit, 0)).map(\.self)
    }
}

extension MemoryStore: InstallationStore {
    package func installation(_ id: String) async throws -> Installation? { installations[MemoryStore.key(id)] }

    package func installations(handle: String) async throws -> [Installation] {
        installations.values
            .filter { $0.handle.hasBytes(of: handle) }
            .sorted { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
    }

    package func installations(after id: String?, limit: Int) async throws -> [Installation] {
        installations.values
            .filter { found in id.map { $0.utf8.lexicographicallyPrecedes(found.id.utf8) } ?? true }
            .sorted { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
            .prefix(max(limit, 0)).map(\.self)
    }

    /// The key of an ID in the dictionaries of devices.
    static func key(_ id: String) -> [UInt8] { Array(DeviceID.folded(id).utf8) }
}

extension MemoryStore: RegisteredPlatforms {
    package func platforms(of users: [UserName]) async throws -> [UserName: Set<Platform>] {
        let wanted = Set(users)
        var platforms: [UserName: Set<Platform>] = [:]
        for registration in registrations.values where wanted.contains(registration.owner) {
            guard let platform = registration.platform else { continue }
            platforms[registration.owner, default: []].insert(platform.platform)
        }
        for installation in installations.values where wanted.contains(installation.owner) {
            platforms[installation.owner, default: []].insert(installation.platform)
        }
        return platforms
    }
}
