import Authentication
import HTTPTypes
import Hummingbird
import SecurePushCore
import ServiceRuntime

/// Protects the operator's page and its API: the host name, the password, and against requests of other sites.
struct AdminGuard<Context: RequestContext>: RouterMiddleware {
    let hosts: HostAllowList
    /// `nil` on loopback without `ADMIN_PASSWORD_FILE`.
    let authenticator: OperatorAuthenticator?

    @concurrent func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        try hosts.check(request)
        let changes = request.method != .get && request.method != .head
        // Another site may link to the page, but neither act nor read the API in the operator's browser.
        if changes || request.uri.path.hasPrefix("/admin/api"), !HostAllowList.isSameOrigin(request) {
            throw Problem.forbidden("Pages of other sites cannot use the operator's API.")
        }
        if let authenticator {
            try await authenticator.authenticate(
                authorization: request.headers[.authorization], from: context.clientAddress)
            AuditTrail.current?.note(actor: OperatorAuthenticator.name)
        }
        var response = try await next(request, context)
        for (name, value) in AdminHeaders.all { response.headers[name] = value }
        return response
    }
}

/// The headers of every answer of the operator's page.
enum AdminHeaders {
    static let all: [(HTTPField.Name, String)] = [
        (.cacheControl, "no-store"),
        (
            .contentSecurityPolicy,
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; "
                + "form-action 'none'; frame-ancestors 'none'"
        ),
        (.xContentTypeOptions, "nosniff"),
        (HTTPField.Name(static: "referrer-policy"), "no-referrer"),
        (HTTPField.Name(static: "cross-origin-opener-policy"), "same-origin"),
        (HTTPField.Name(static: "cross-origin-resource-policy"), "same-origin"),
    ]
}
