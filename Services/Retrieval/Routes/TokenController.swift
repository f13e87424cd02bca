import Authentication
import HTTPTypes
import Hummingbird
import NIOCore
import SecurePushCore
import ServiceRuntime

/// `POST /api/token`: issues a bearer token for a user's password, so that a device need not store the password.
struct TokenController: Sendable {
    let users: UserAuthenticator
    /// `nil` if no signing key is configured (`AUTH_TOKEN_SIGNING_KEY_FILE`).
    let issuer: TokenIssuer?

    func addRoutes(to router: some RouterMethods<some RequestContext>) {
        router.post("/api/token", use: issue)
    }

    /// Accepts Basic credentials only, because a token must not extend its own lifetime.
    @Sendable func issue(_ request: Request, context: some RequestContext) async throws -> Response {
        guard let issuer else { throw Problem.notFound("This server does not issue tokens.") }
        let user = try await users.authenticateByPassword(
            authorization: request.headers[.authorization], from: context.clientAddress)
        let token = try issuer.issue(to: user, now: .now)
        let body = """
            {"access_token":\(JSONText.quoted(token.token)),"token_type":"Bearer","expires_in":\(token.expiresIn)}
            """
        return .json(.ok, ByteBuffer(string: body))
    }
}

extension UserAuthenticator {
    /// The user who sends a request.
    ///
    /// - Throws: ``AuthenticationError``.
    func user(of request: Request, _ context: some RequestContext) async throws -> UserName {
        try await authenticate(authorization: request.headers[.authorization], from: context.clientAddress)
    }
}
