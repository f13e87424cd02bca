import Authentication
import Domain
import HTTPTypes
import Hummingbird
import ServiceRuntime

/// Authenticates callers of the ingest API: application servers by API key, users for the tutorial's "Send push".
struct SenderAuthentication: Sendable {
    enum Caller: Sendable {
        case sender(String)
        case user(UserName)

        /// The sender's name, as the store keeps it.
        var name: String {
            switch self {
            case .sender(let name): name
            // Names of API keys have no colon, so the two kinds never collide.
            case .user(let name): "user:\(name)"
            }
        }

        /// Whether a sender's name, as the store keeps it, belongs to a user.
        static func isUser(_ sender: String) -> Bool { sender.utf8.starts(with: "user:".utf8) }
    }

    let senders: APIKeyRing
    /// `nil` if no user credentials are configured.
    let users: UserAuthenticator?

    /// The caller, noted for the audit log.
    ///
    /// - Throws: ``AuthenticationError``.
    func caller(of request: Request, context: some RequestContext) async throws -> Caller {
        let caller = try await authenticated(request, context)
        AuditTrail.current?.note(actor: caller.name)
        return caller
    }

    /// The application server that sends the request. Called first: without credentials the response is the same for
    /// every path.
    ///
    /// - Throws: ``AuthenticationError``; ``Problem`` 403 for a user.
    func sender(of request: Request, context: some RequestContext) async throws -> String {
        guard case .sender(let name) = try await caller(of: request, context: context) else {
            throw Problem.forbidden("An API key is required; users may only send a confirmation to themselves.")
        }
        return name
    }

    private func authenticated(_ request: Request, _ context: some RequestContext) async throws -> Caller {
        let authorization = request.headers[.authorization]
        var keyError: AuthenticationError
        do {
            return .sender(try senders.sender(authorization: authorization))
        } catch {
            keyError = error
        }
        if keyError.code == .invalid {
            // A key that was just added is accepted at once.
            await senders.check()
            do {
                return .sender(try senders.sender(authorization: authorization))
            } catch {
                keyError = error
            }
        }
        guard let users else { throw keyError }
        do {
            return .user(try await users.authenticate(authorization: authorization, from: context.clientAddress))
        } catch {
            // Credentials that are not a token are an API key, which may be valid although the keys cannot be read now.
            let isKey = error.code == .malformed && (keyError.code == .invalid || keyError.code == .unavailable)
            throw isKey ? keyError : error
        }
    }
}
