import Authentication
import HTTPTypes
import Hummingbird
import NIOCore
import SecurePushCore
import ServiceRuntime

/// `POST /api/token`: a bearer token for a user's password, so that a device need not keep the password.
struct TokenController: Sendable {
    let caller: CallerAuthentication
    /// `nil` where no signing key is configured (`AUTH_TOKEN_SIGNING_KEY_FILE`).
    let issuer: TokenIssuer?

    func addRoutes(to router: some RouterMethods<some RequestContext>) {
        router.post("/api/token", use: issue)
    }

    /// Takes Basic credentials only: a token must not prolong itself.
    @Sendable func issue(_ request: Request, context: some RequestContext) async throws -> Response {
        guard let issuer else { throw Problem.notFound("No tokens are issued here.") }
        let user = try await caller.authenticateByPassword(
            request.headers[.authorization], from: context.clientAddress)
        let token = try issuer.issue(to: user, now: .now)
        let body = """
            {"access_token":\(JSONText.quoted(token.token)),"token_type":"Bearer","expires_in":\(token.expiresIn)}
            """
        let headers: HTTPFields = [.contentType: "application/json", .cacheControl: "no-store"]
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: body)))
    }
}
