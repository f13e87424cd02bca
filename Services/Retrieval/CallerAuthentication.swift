import Authentication
import SecurePushCore

/// Whose device calls.
struct CallerAuthentication: Sendable {
    let users: UserAuthenticator

    /// - Throws: ``AuthenticationError``.
    func authenticate(_ authorization: String?) async throws -> UserName {
        try await users.authenticate(authorization: authorization)
    }

    /// The same by Basic credentials only.
    func authenticateByPassword(_ authorization: String?) async throws -> UserName {
        try await users.authenticateByPassword(authorization: authorization)
    }
}
