/// Whose registration is whose.
public protocol RegistrationStore: Sendable {
    /// Stores a registration, replacing the one with its ID.
    func save(_ registration: Registration) async throws

    /// The registration with this ID if it belongs to this user.
    func registration(_ id: String, owner: UserName) async throws -> Registration?

    /// All registrations of a device's handle, whoever owns them.
    func registrations(handle: String) async throws -> [Registration]

    /// All registrations in the order of their IDs (by bytes), from behind `after`; to fill a hub again.
    func registrations(after id: String?, limit: Int) async throws -> [Registration]

    /// Removes a registration, whoever owns it; an unknown ID is ignored.
    func removeRegistration(_ id: String) async throws
}
