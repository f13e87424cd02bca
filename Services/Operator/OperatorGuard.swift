import Authentication
import Domain
import HTTPTypes
import Hummingbird
import ServiceRuntime

/// Protects the operator's page and its API: checks the host name and the password, and refuses requests of other
/// sites. The paths for probes and collectors stay open.
struct OperatorGuard<Context: RequestContext>: RouterMiddleware {
    let hosts: HostAllowList
    /// `nil` on loopback without `ADMIN_PASSWORD_FILE`.
    let authenticator: OperatorAuthenticator?

    @concurrent func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        if Operations.paths.contains(request.uri.path) { return try await next(request, context) }
        try hosts.check(request)
        // Another site may only link to the page, because even reading a notification is recorded in the operator's
        // name.
        if !HostAllowList.isSameOrigin(request) {
            guard request.isOfLink, !request.isOfAPI else {
                throw Problem.forbidden("Pages of other sites can only link to the operator's page.")
            }
        }
        if let authenticator {
            do {
                try await authenticator.authenticate(
                    authorization: request.headers[.authorization], from: context.clientAddress)
            } catch {
                throw request.isOfScript ? error.with(challenges: error.challenges.map { "x-\($0)" }) : error
            }
            AuditTrail.current?.note(actor: OperatorAuthenticator.name)
        }
        var response: Response
        do {
            response = try await next(request, context)
        } catch let error as HTTPError where error.status == .notFound && request.isOfPage {
            response = PageFiles.page(.notFound)
        }
        for (name, value) in PageHeaders.all { response.headers[name] = value }
        return response
    }
}

extension Request {
    /// Whether a person follows a link. An image, a frame, a script and a form that changes something are not that, nor
    /// is a page that a browser loads in advance. A browser that sends `Sec-Fetch-Site` sends mode and destination too.
    fileprivate var isOfLink: Bool {
        (method == .get || method == .head) && headers[.secFetchMode] == "navigate"
            && headers[.secFetchDest] == "document" && headers[.secPurpose] == nil
    }

    /// However the path is spelled: the router takes `//admin/api` for the same.
    fileprivate var isOfAPI: Bool { uri.path.split(separator: "/").starts(with: ["admin", "api"]) }

    /// Whether a script asks. For the scheme `Basic` a browser would open its own dialogue over the page, although the
    /// page can explain a changed password better.
    fileprivate var isOfScript: Bool { headers[.secFetchMode].map { $0 != "navigate" } ?? false }

    /// Whether a browser shows the answer to a person. Then an HTML page explains the error better than JSON.
    fileprivate var isOfPage: Bool {
        (method == .get || method == .head) && !isOfAPI
    }
}

extension HTTPField.Name {
    /// `Sec-Fetch-Dest` (W3C Fetch Metadata, section 2.1).
    fileprivate static let secFetchDest = HTTPField.Name(static: "sec-fetch-dest")
    /// `Sec-Fetch-Mode` (W3C Fetch Metadata, section 2.2).
    fileprivate static let secFetchMode = HTTPField.Name(static: "sec-fetch-mode")
    /// `Sec-Purpose`, which browsers send when they load a page in advance.
    fileprivate static let secPurpose = HTTPField.Name(static: "sec-purpose")
}

/// The headers of every answer of the operator's page.
enum PageHeaders {
    static let all: [(HTTPField.Name, String)] = [
        (.cacheControl, "no-store"),
        (
            .contentSecurityPolicy,
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
                + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        ),
        (.xContentTypeOptions, "nosniff"),
        (HTTPField.Name(static: "referrer-policy"), "no-referrer"),
        (HTTPField.Name(static: "cross-origin-opener-policy"), "same-origin"),
        (HTTPField.Name(static: "cross-origin-resource-policy"), "same-origin"),
    ]
}
