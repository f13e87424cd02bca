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
            .sorted { $0.id < $1.id }
    }

    public func removeRegistration(_ id: String) async throws {
        registrations[Array(id.utf8)] = nil
    }
}
