import Foundations
import HTTPTypes
package import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import Synchronization

/// A router of a service, with ``ProblemMiddleware`` in place and `HEAD` wherever there is `GET`.
///
/// - Parameter guarding: middlewares that check the requests of all routes, and of those that are added later.
package func makeRouter<Context: RequestContext>(
    _ routes: Routes<Context>, context: ServiceContext,
    guarding middleware: (any MiddlewareProtocol<Request, Response, Context>)? = nil
) -> Router<Context> {
    let router = Router(context: Context.self, options: .autoGenerateHeadEndpoints)
    router.add(middleware: ProblemMiddleware(context: context, cors: routes.cors))
    router.add(middleware: EmptyNameMiddleware(routes))
    if let audit = context.audit { router.add(middleware: AuditMiddleware(audit: audit, routes: routes)) }
    router.add(middleware: CrossSiteMiddleware(routes: routes))
    if let middleware { router.add(middleware: middleware) }
    for route in routes.routes { router.on(route.path, method: route.method, use: route.handler) }
    return router
}

/// Makes the router of a service without its routes, which are added later.
package func makeRouter<Context: RequestContext>(
    of type: Context.Type, context: ServiceContext, cors: CORSPolicy? = nil
) -> Router<Context> {
    makeRouter(Routes(cors: cors), context: context)
}

/// The paths that every service answers to operators, under any load.
package enum Operations {
    package static let paths: Set<String> = ["/livez", "/readyz", "/metrics", "/version"]

    /// Whether the router takes a path for one of these although it is spelled otherwise: `//metrics`, `/metrics/`.
    /// There is nothing at such a path.
    static func isMisspelled(_ path: String) -> Bool {
        guard !paths.contains(path) else { return false }
        return paths.contains("/" + path.split(separator: "/").joined(separator: "/"))
    }
}

extension HTTPLimits {
    /// Whether the router takes a path for a streamed one, however the path is spelled.
    func isStreamed(_ path: Substring) -> Bool {
        let slash = UInt8(ascii: "/")
        return streamedPaths.contains { streamed in
            // Nearly every path is shorter.
            guard path.utf8.count + 1 >= streamed.utf8.count else { return false }
            // The target may be a whole URL.
            let plain = path.utf8.first == slash ? path : URI(String(path)).path[...]
            let segments = streamed.utf8.split(separator: slash)
            return plain.utf8.split(separator: slash).elementsEqual(segments) { $0.elementsEqual($1) }
        }
    }
}

extension Router {
    /// Adds the routes for operators: `GET /livez`, `/readyz`, `/metrics` and `/version`, and `/openapi.json` for a
    /// service that has an API.
    ///
    /// - `/livez`: 200 as long as the process answers. It checks nothing else.
    /// - `/readyz`: asks all checks at once; 503 if a required part is down, see ``ReadinessReport``. A report is kept
    ///   for one second, so that frequent requests do not load the database.
    /// - `/metrics`: Prometheus text.
    /// - `/version`: `{"Name","Version","Swift"}`.
    /// - `/openapi.json`: the description of the API.
    package func addOperations(
        readiness checks: [ReadinessCheck], details: [ReadinessDetail] = [], openAPI: OpenAPIDocument? = nil,
        context service: ServiceContext
    ) {
        ProcessMetrics.register(in: service)
        let requests = service.requests
        service.metrics.observe(.httpRequestsInFlight) { Double(requests.current) }
        get("/livez") { _, _ in Response.json(.ok, #"{"status":"alive"}"#.utf8) }
        let readiness = ReadinessCache { await ReadinessReport.collect(checks) }
        get("/readyz") { _, context in
            let report = await readiness.report()
            if !report.down.isEmpty {
                context.logger.debug("Parts are down", metadata: ["parts": "\(report.down.map(\.name))"])
            }
            return Response.json(report.isReady ? .ok : .serviceUnavailable, report.json(details))
        }
        get("/metrics") { _, _ in
            let text = ByteBuffer(string: service.metrics.exposition())
            return Response.uncached(.ok, text, contentType: PrometheusText.contentType)
        }
        var version = JSONWriter()
        version.object { json in
            json.member("Name", service.name)
            json.member("Version", service.version)
            json.member("Swift", SecurePushVersion.swift)
        }
        let versionBody = ByteBuffer(bytes: version.bytes)
        get("/version") { _, _ in Response.json(.ok, versionBody) }
        if let openAPI {
            let document = ByteBuffer(bytes: openAPI.bytes)
            get("/openapi.json") { _, _ in
                Response(
                    status: .ok, headers: [.contentType: "application/json", .cacheControl: "no-cache"],
                    body: ResponseBody(byteBuffer: document))
            }
        }
    }
}

/// The paths and methods of a router, so that a wrong method gets `405` with `Allow` instead of `404`.
final class RouteTable: Sendable {
    private struct Route {
        let segments: [Substring]
        let method: String

        var captures: Int { segments.count(where: RouteTable.isCapture) }
    }

    private let routes = Mutex<[Route]>([])

    /// Replaces the routes; called once the router is complete.
    func set(_ descriptions: [(path: String, method: String)]) {
        let known = descriptions.map { Route(segments: RouteTable.segments(of: $0.path[...]), method: $0.method) }
        routes.withLock { $0 = known }
    }

    /// The methods that a path takes, sorted; empty if there is nothing at the path.
    ///
    /// If several patterns match, the one with the fewest captures counts, as in the router: the methods of
    /// `/notifications/{id}` are not those of `/notifications/batch`.
    func methods(of path: String) -> [String] {
        if Operations.isMisspelled(path) { return [] }
        let segments = RouteTable.segments(of: path[...])
        let found = routes.withLock { routes in routes.filter { RouteTable.matches($0.segments, segments) } }
        let fewest = found.map(\.captures).min()
        return Set(found.filter { $0.captures == fewest }.map(\.method)).sorted()
    }

    private static func segments(of path: Substring) -> [Substring] { path.split(separator: "/") }

    private static func isCapture(_ segment: Substring) -> Bool {
        segment.contains("{") || segment.hasPrefix(":") || segment.contains("*")
    }

    /// Captures (`{id}`, `:id`) and `*` match one segment, `**` matches the rest.
    private static func matches(_ pattern: [Substring], _ path: [Substring]) -> Bool {
        for (index, segment) in pattern.enumerated() {
            if segment == "**" { return true }
            guard index < path.count else { return false }
            guard isCapture(segment) || segment == path[index] else { return false }
        }
        return pattern.count == path.count
    }
}
