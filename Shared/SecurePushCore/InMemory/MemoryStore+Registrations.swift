extension MemoryStore: RegistrationStore {
    public func save(_ registration: Registration) async throws {
        registrations[Array(registration.id.utf8)] = registration
    }

    public func registration(_ id: String, owner: UserName) async throws -> Registration? {
        guard let registration = registrations[Array(id.utf8)], registration.owner == owner else { return nil }
        return registration
    }

    public func registrations(handle: String) async throws -> [Registration] {
        registrations.values
            .filter { $0.handle.map { $0.utf8.elementsEqual(handle.utf8) } ?? false }
            .sorted { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
    }

    public func registrations(after id: String?, limit: Int) async throws -> [Registration] {
        registrations
            .filter { key, _ in id.map { $0.utf8.lexicographicallyPrecedes(key) } ?? true }
            .sorted { $0.key.lexicographicallyPrecedes($1.key) }
            .prefix(max(limit, 0)).map(\.value)
    }

    public func removeRegistration(_ id: String) async throws {
        registrations[Array(id.utf8)] = nil
    }
}

extension MemoryStore: InstallationStore {
    public func save(_ installation: Installation) async throws {
        installations[Array(installation.id.utf8)] = installation
    }

    public func installation(_ id: String) async throws -> Installation? { installations[Array(id.utf8)] }

    public func installations(handle: String) async throws -> [Installation] {
        installations.values
            .filter { $0.handle.utf8.elementsEqual(handle.utf8) }
            .sorted { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
    }

    public func installations(after id: String?, limit: Int) async throws -> [Installation] {
        installations
            .filter { key, _ in id.map { $0.utf8.lexicographicallyPrecedes(key) } ?? true }
            .sorted { $0.key.lexicographicallyPrecedes($1.key) }
            .prefix(max(limit, 0)).map(\.value)
    }

    public func removeInstallation(_ id: String) async throws { installations[Array(id.utf8)] = nil }
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
