import HTTPTypes
import Hummingbird

/// Refuses requests with Basic credentials that a page of another site has caused and that change something.
///
/// A browser that knows a password sends it with every request to its service, whichever page causes the request
/// (CSRF). Tokens are not sent by themselves. Browsers say where a request comes from: in `Sec-Fetch-Site` (W3C Fetch
/// Metadata), and in `Origin` if it is not a plain `GET`. No page can change these fields, and clients that are no
/// browsers do not send them. Web apps of `RETRIEVAL_CORS_ORIGINS` may call.
struct CrossSiteMiddleware<Context: RequestContext>: RouterMiddleware {
    let routes: Routes<Context>

    @concurrent func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        if Self.isBasic(request.headers[.authorization]), changes(request, context), isForeign(request) {
            throw Problem.forbidden(
                "A page of another site caused this request with the browser's password. Web apps send a token.")
        }
        return try await next(request, context)
    }

    private static func isBasic(_ authorization: String?) -> Bool {
        let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        let scheme = (authorization ?? "").utf8.drop(while: isBlank).prefix { !isBlank($0) }
        return Substring(scheme).lowercased() == "basic"
    }

    private func changes(_ request: Request, _ context: Context) -> Bool {
        switch request.method {
        case .head, .options: false
        case .get: context.endpointPath.map { routes.readChanges(request, $0) } ?? false
        default: true
        }
    }

    private func isForeign(_ request: Request) -> Bool {
        if routes.cors?.allows(request) == true { return false }
        switch request.headers[.secFetchSite] {
        // Also behind a proxy that sends another `Host`.
        case "same-origin": return false
        case "cross-site": return true
        // `none` too: a person's own request has no `Origin` of another site.
        default: return request.headers[.origin].map { !Self.isOwn($0, request.head.authority ?? "") } ?? false
        }
    }

    /// Whether the origin has the host and the port of the request. A proxy may have ended TLS, so the scheme only
    /// tells the default port. `null` and lists are no origin of ours.
    private static func isOwn(_ origin: String, _ authority: String) -> Bool {
        guard let mark = origin.firstRange(of: "://") else { return false }
        let defaultPort = origin[..<mark.lowerBound].lowercased() == "https" ? ":443" : ":80"
        func plain(_ text: some StringProtocol) -> String {
            let text = text.lowercased()
            return text.hasSuffix(defaultPort) ? String(text.dropLast(defaultPort.count)) : text
        }
        return plain(origin[mark.upperBound...]) == plain(authority)
    }
}
