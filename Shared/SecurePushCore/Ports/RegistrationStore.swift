/// Whose registration is whose.
public protocol RegistrationStore: Sendable {
    /// Stores a registration, replacing the one with its ID.
    func save(_ registration: Registration) async throws

    /// The registration with this ID if it belongs to this user.
    func registration(_ id: String, owner: UserName) async throws -> Registration?

    /// All registrations of a device's handle, whoever owns them.
    func registrations(handle: String) async throws -> [Registration]

    /// Removes a registration, whoever owns it; an unknown ID is ignored.
    func removeRegistration(_ id: String) async throws
}
