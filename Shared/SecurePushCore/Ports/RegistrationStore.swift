/// Whose registration is whose. ``DeviceLeases`` changes it.
public protocol RegistrationStore: Sendable {
    /// The registration with this ID, in any case, if it belongs to this user.
    func registration(_ id: String, owner: UserName) async throws -> Registration?

    /// The registration with this ID, in any case, of any owner.
    func registration(_ id: String) async throws -> Registration?

    /// All registrations of a device's handle, of any owner.
    func registrations(handle: String) async throws -> [Registration]

    /// All registrations in the order of their IDs (by bytes), from behind `after`; to fill a hub again.
    func registrations(after id: String?, limit: Int) async throws -> [Registration]
}
