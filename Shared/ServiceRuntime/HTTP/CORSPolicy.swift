package import HTTPTypes
import Hummingbird
package import ServiceConfiguration

/// The web apps that may call an API from a browser, by exact origin (Fetch standard, "HTTP-CORS protocol").
///
/// Hummingbird's own middleware does not fit: it answers preflight requests of every origin, names the same methods for
/// every path, and loses the text and the headers of problems. ``ProblemMiddleware`` uses this policy.
///
/// Users authenticate with `Authorization`, which a web app sets itself, so requests with cookies are not allowed
/// (`Access-Control-Allow-Credentials`). The policy covers `/api/`; operators' paths are not for web apps.
package struct CORSPolicy: Sendable {
    /// The headers that a web app may send, besides those that need no permission.
    static let allowedHeaders =
        "Authorization, Content-Type, Idempotency-Key, Traceparent, Tracestate, Baggage, X-Request-Id"
    /// The response headers that a web app may read, besides those that need no permission.
    static let exposedHeaders = "Allow, Retry-After, WWW-Authenticate, X-Request-Id"
    /// How long a browser may keep the answer to a preflight request, in seconds: the most that Chromium keeps.
    static let maxAge = "7200"

    private let origins: Set<WebOrigin>
    private let allowed: String

    /// - Parameters:
    ///   - origins: see `RETRIEVAL_CORS_ORIGINS`.
    ///   - headers: further request headers that web apps may send; see `RETRIEVAL_CORS_HEADERS`.
    package init(origins: [WebOrigin], headers: [HTTPField.Name] = []) {
        self.origins = Set(origins)
        allowed = ([Self.allowedHeaders] + headers.map(\.rawName)).joined(separator: ", ")
    }

    /// The answer to a preflight request of an origin that may call this path.
    ///
    /// - Parameter methods: the methods that a path takes; empty if there is nothing at the path.
    /// - Returns: `nil` for any other request, which is answered as if there were no policy.
    func preflight(_ request: Request, methods: (String) -> [String]) -> Response? {
        guard request.method == .options, request.headers[.accessControlRequestMethod] != nil,
            origin(of: request) != nil
        else { return nil }
        let methods = methods(request.uri.path)
        if methods.isEmpty { return nil }
        return Response(
            status: .noContent,
            headers: [
                .accessControlAllowMethods: methods.joined(separator: ", "),
                .accessControlAllowHeaders: allowed, .accessControlMaxAge: Self.maxAge,
            ])
    }

    /// Adds the headers that let a browser give the response to the web app.
    ///
    /// `Vary` is added for every origin, so that no cache gives the response for one origin to another (Fetch standard,
    /// "CORS protocol and HTTP caches").
    func addHeaders(to response: inout Response, for request: Request) {
        guard covers(request.uri.path) else { return }
        response.headers[values: .vary].append("Origin")
        guard let origin = origin(of: request) else { return }
        response.headers[.accessControlAllowOrigin] = origin.text
        if response.headers[.accessControlAllowMethods] == nil {
            response.headers[.accessControlExposeHeaders] = Self.exposedHeaders
        }
    }

    /// Whether a path is for web apps. The router takes several slashes in a row for one.
    func covers(_ path: String) -> Bool {
        let start = path.utf8.drop { $0 == UInt8(ascii: "/") }
        return start.count < path.utf8.count && start.starts(with: "api/".utf8)
    }

    /// Whether the request is of a web app that may call.
    func allows(_ request: Request) -> Bool { origin(of: request) != nil }

    /// The origin of the request, if it is one of this policy's.
    private func origin(of request: Request) -> WebOrigin? {
        guard covers(request.uri.path), let text = request.headers[.origin] else { return nil }
        return origins.first { $0.text.utf8.elementsEqual(text.utf8) }
    }
}
