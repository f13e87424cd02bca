extension MemoryStore: RegistrationStore {
    public func registration(_ id: String, owner: UserName) async throws -> Registration? {
        guard let registration = registrations[MemoryStore.key(id)], registration.owner == owner else { return nil }
        return registration
    }

    public func registration(_ id: String) async throws -> Registration? { registrations[MemoryStore.key(id)] }

    public func registrations(handle: String) async throws -> [Registration] {
        registrations.values
            .filter { $0.handle?.hasBytes(of: handle) ?? false }
            .sorted { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
    }

    public func registrations(after id: String?, limit: Int) async throws -> [Registration] {
        registrations.values
            .filter { found in id.map { $0.utf8.lexicographicallyPrecedes(found.id.utf8) } ?? true }
            .sorted { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
            .prefix(max(limit, 0)).map(\.self)
    }
}

extension MemoryStore: InstallationStore {
    public func installation(_ id: String) async throws -> Installation? { installations[MemoryStore.key(id)] }

    public func installations(handle: String) async throws -> [Installation] {
        installations.values
            .filter { $0.handle.hasBytes(of: handle) }
            .sorted { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
    }

    public func installations(after id: String?, limit: Int) async throws -> [Installation] {
        installations.values
            .filter { found in id.map { $0.utf8.lexicographicallyPrecedes(found.id.utf8) } ?? true }
            .sorted { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
            .prefix(max(limit, 0)).map(\.self)
    }

    /// The key of an ID in the dictionaries of devices.
    static func key(_ id: String) -> [UInt8] { Array(DeviceID.folded(id).utf8) }
}

extension MemoryStore: RegisteredPlatforms {
    public func platforms(of users: [UserName]) async throws -> [UserName: Set<Platform>] {
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
