import Authentication
import SecurePushCore

/// Whose device calls.
struct CallerAuthentication: Sendable {
    let users: UserAuthenticator

    /// - Parameter client: where the request came from (`context.clientAddress`), for the limits on wrong passwords.
    /// - Throws: ``AuthenticationError``.
    func authenticate(_ authorization: String?, from client: ClientAddress?) async throws -> UserName {
        try await users.authenticate(authorization: authorization, from: client)
    }

    /// The same by Basic credentials only.
    func authenticateByPassword(_ authorization: String?, from client: ClientAddress?) async throws -> UserName {
        try await users.authenticateByPassword(authorization: authorization, from: client)
    }
}
