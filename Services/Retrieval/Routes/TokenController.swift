import Authentication
import Domain
import Foundations
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceRuntime

/// `/api/token`:
///
/// - `POST` issues a bearer token for a user's password, so that a device need not store the password. With
///   `AUTH_REFRESH_TTL` it also returns a refresh token, and exchanges one (RFC 6749, section 6).
/// - `DELETE` ends a refresh token and its family.
struct TokenController: Sendable {
    let users: UserAuthenticator
    /// `nil` if no signing key is configured (`AUTH_TOKEN_SIGNING_KEY_FILE`).
    let issuer: TokenIssuer?
    /// `nil` without `AUTH_REFRESH_TTL`.
    var refresh: RefreshTokens?

    /// Accepts Basic credentials, or a refresh token and no other credentials. A bearer token is not accepted, because
    /// it must not extend its own lifetime.
    @Sendable func issue(_ request: Request, context: some RequestContext) async throws -> Response {
        guard let issuer else { throw Problem.notFound("This server does not issue tokens.") }
        if let refresh, request.headers[.authorization] == nil, let wanted = try await RefreshRequest(request) {
            let token = try wanted.token(needsGrantType: true)
            // The name is known before the token is refused: a token that is used twice ends this user's session.
            let tokens = try await refresh.refresh(token) { AuditTrail.current?.note(id: $0.text) }
            AuditTrail.current?.note(actor: tokens.user.text)
            return Self.answer(tokens)
        }
        let login = try await users.authenticateByPassword(
            authorization: request.headers[.authorization], from: context.clientAddress)
        AuditTrail.current?.note(actor: login.user.text)
        // The issuer has the users' file as it was a moment ago. So has the check of the password: the tokens are bound
        // to the entry that it has seen, and refused if the file has another one now.
        await issuer.checkUsers()
        if let refresh { return Self.answer(try await refresh.begin(for: login.user, entry: login.entry)) }
        return Self.answer(try issuer.issue(to: login.user, entry: login.entry), refreshToken: nil)
    }

    /// Ends the family of a refresh token. The answer is the same for an unknown one.
    @Sendable func end(_ request: Request, context: some RequestContext) async throws -> Response {
        guard let refresh else { throw Problem.notFound("This server does not issue refresh tokens.") }
        guard let wanted = try await RefreshRequest(request) else {
            throw Problem.badRequest("The body must contain the refresh token.")
        }
        if let user = try await refresh.end(try wanted.token(needsGrantType: false)) {
            AuditTrail.current?.note(id: user.text)
        }
        return Response(status: .noContent)
    }

    private static func answer(_ tokens: TokenPair) -> Response {
        answer(tokens.access, refreshToken: tokens.refresh)
    }

    /// The members of RFC 6749, section 5.1.
    private static func answer(_ access: IssuedToken, refreshToken: String?) -> Response {
        var json = JSONWriter()
        json.object { json in
            json.member("access_token", access.token)
            json.member("token_type", "Bearer")
            json.member("expires_in", access.expiresIn)
            if let refreshToken { json.member("refresh_token", refreshToken) }
        }
        return .json(.ok, json.bytes)
    }
}

/// The body of a refresh: `grant_type` and `refresh_token`, as a form or as JSON.
private struct RefreshRequest {
    private var grantType: String?
    private var refreshToken: String?

    /// A client may add parameters that are ignored, such as a `client_assertion`, which is a token (RFC 7523).
    private static let maxBytes = 16_384
    /// RFC 6749 also allows `scope` and `client_id`, which have no meaning here. A form may have any others too.
    private static let members = ["grant_type", "refresh_token", "scope", "client_id"]

    /// - Returns: `nil` if there is no body.
    /// - Throws: ``Problem``: 400 for a malformed body, 413, 415, 422 for invalid members.
    init?(_ request: Request) async throws {
        let type = request.headers[.contentType]
        let isForm = MediaType.isForm(type)
        let body = try await request.wholeBody(
            upTo: Self.maxBytes,
            onBody: {
                guard isForm || MediaType.isJSON(type) else {
                    throw Problem.unsupportedMediaType(
                        "The body must be application/x-www-form-urlencoded or application/json in UTF-8.")
                }
            })
        guard body.readableBytes > 0 else { return nil }
        if isForm {
            try self.init(form: body)
        } else {
            self = try body.readJSON(.object { RefreshRequest(&$0) })
        }
    }

    private init(form body: ByteBuffer) throws {
        guard let text = String(validating: body.readableBytesView, as: UTF8.self) else {
            throw Problem.badRequest("The body is not UTF-8.")
        }
        // RFC 6749, section 3.2: a parameter that is not known is ignored, and one without a value counts as omitted.
        var parameters = QueryParameters(text, known: Self.members, ignoresUnknown: true)
        grantType = parameters.take("grant_type", "") { $0 }.flatMap { $0.isEmpty ? nil : $0 }
        refreshToken = parameters.take("refresh_token", "") { $0 }.flatMap { $0.isEmpty ? nil : $0 }
        do {
            try parameters.check()
        } catch var problem {
            problem.detail = "The form is invalid; see `errors`."
            throw problem
        }
    }

    private init(_ json: inout JSONObjectReader) {
        grantType = json.optional("grant_type", .text)
        refreshToken = json.optional("refresh_token", .text)
        _ = (json.optional("scope", .text), json.optional("client_id", .text))
    }

    /// The token.
    ///
    /// - Parameter needsGrantType: whether `grant_type` is required; if it is present, it must have the right value.
    /// - Throws: ``Problem`` 422 with every invalid member.
    func token(needsGrantType: Bool) throws(Problem) -> String {
        var issues = MemberIssues()
        if grantType == nil, needsGrantType { issues.note("/grant_type", "The member is required.") }
        if let grantType, grantType != "refresh_token" {
            issues.note("/grant_type", "The value must be refresh_token.")
        }
        if refreshToken == nil { issues.note("/refresh_token", "The member is required.") }
        guard issues.isEmpty, let refreshToken else { throw .invalidFields(issues) }
        return refreshToken
    }
}

extension UserAuthenticator {
    /// The user who sends a request, noted for the audit log.
    ///
    /// - Throws: ``AuthenticationError``.
    func user(of request: Request, _ context: some RequestContext) async throws -> UserName {
        let user = try await authenticate(
            authorization: request.headers[.authorization], from: context.clientAddress)
        AuditTrail.current?.note(actor: user.text)
        return user
    }
}
