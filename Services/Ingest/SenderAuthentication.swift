import Authentication
import SecurePushCore

/// Who calls the ingest API: an application server with its key, or a user with the tutorial's "Send push".
struct CallerAuthentication: Sendable {
    enum Caller: Sendable {
        case sender(String)
        case user(UserName)

        /// What the store keeps as the sender.
        var name: String {
            switch self {
            case .sender(let name): name
            // No API key is called so: its name has no colon.
            case .user(let name): "user:\(name)"
            }
        }

        /// Whether a sender as the store keeps it is a user.
        static func isUser(_ sender: String) -> Bool { sender.utf8.starts(with: "user:".utf8) }
    }

    let senders: APIKeyRing
    /// `nil` where no credentials of users are configured.
    let users: UserAuthenticator?

    /// - Parameter client: where the request came from (`context.clientAddress`), for the limits on wrong passwords.
    /// - Throws: ``AuthenticationError``.
    func authenticate(_ authorization: String?, from client: ClientAddress?) async throws -> Caller {
        let refusal: AuthenticationError
        do {
            return .sender(try senders.sender(authorization: authorization))
        } catch {
            refusal = error
        }
        guard let users else { throw refusal }
        do {
            return .user(try await users.authenticate(authorization: authorization, from: client))
        } catch {
            // What is no token at all was meant for an API key, and may be one where keys cannot be read now.
            let isKey = error.code == .malformed && (refusal.code == .invalid || refusal.code == .unavailable)
            throw isKey ? refusal : error
        }
    }
}
