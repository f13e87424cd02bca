/// On which platforms users have devices here (`DISPATCH_REGISTERED_ONLY`).
public protocol RegisteredPlatforms: Sendable {
    /// The platforms for which each user has an installation or a registration; a user without any is absent.
    func platforms(of users: [UserName]) async throws -> [UserName: Set<Platform>]
}
