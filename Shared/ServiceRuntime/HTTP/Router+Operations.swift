import HTTPTypes
public import Hummingbird
import Logging
import NIOCore
import Synchronization

/// A router with ``ProblemMiddleware`` in place and `HEAD` wherever there is `GET`.
public func makeRouter<Context: RequestContext>(of type: Context.Type, context: ServiceContext) -> Router<Context> {
    let router = Router(context: type, options: .autoGenerateHeadEndpoints)
    router.add(middleware: ProblemMiddleware(context: context))
    return router
}

/// The paths that every service answers to operators, whatever its load.
enum Operations {
    static let paths: Set<String> = ["/livez", "/readyz", "/metrics", "/version"]
}

extension Router {
    /// Adds what every service answers: `GET /livez`, `/readyz`, `/metrics` and `/version`.
    ///
    /// - `/livez`: 200 as long as the process answers; touches nothing.
    /// - `/readyz`: asks all checks at once; 503 if a required part is down, see ``ReadinessReport``. A report holds
    ///   for a second, so that many questions do not load the database.
    /// - `/metrics`: Prometheus text.
    /// - `/version`: `{"Name","Version","Swift"}`.
    /// - `/openapi.json`: the description of the API, of a service that has one.
    public func addOperations(
        readiness checks: [ReadinessCheck], details: [ReadinessDetail] = [], openAPI: OpenAPIDocument? = nil,
        context service: ServiceContext
    ) {
        ProcessMetrics.register(in: service)
        let requests = service.requests
        service.metrics.observe("securepush_http_requests_in_flight") { Double(requests.current) }
        get("/livez") { _, _ in Response.json(#"{"status":"alive"}"#) }
        let readiness = ReadinessCache { await ReadinessReport.collect(checks) }
        get("/readyz") { _, context in
            let report = await readiness.report()
            if !report.down.isEmpty {
                context.logger.debug("Parts are down", metadata: ["parts": "\(report.down.map(\.name))"])
            }
            return Response.json(report.json(details), status: report.isReady ? .ok : .serviceUnavailable)
        }
        get("/metrics") { _, _ in
            Response.text(service.metrics.exposition(), contentType: PrometheusText.contentType)
        }
        let version = Router.versionDocument(of: service)
        get("/version") { _, _ in Response.json(version) }
        if let openAPI {
            let document = ByteBuffer(bytes: openAPI.bytes)
            get("/openapi.json") { _, _ in
                Response(
                    status: .ok, headers: [.contentType: "application/json", .cacheControl: "no-cache"],
                    body: ResponseBody(byteBuffer: document))
            }
        }
    }

    private static func versionDocument(of service: ServiceContext) -> String {
        var text = JSONWriter()
        text.raw("{")
        text.member("Name", service.name)
        text.member("Version", service.version)
        text.member("Swift", SecurePushVersion.swift)
        text.raw("}")
        return String(decoding: text.bytes, as: UTF8.self)
    }
}

extension Response {
    /// A JSON answer that nobody may cache.
    static func json(_ document: String, status: HTTPResponse.Status = .ok) -> Response {
        text(document, contentType: "application/json", status: status)
    }

    static func text(_ text: String, contentType: String, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: contentType, .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}

/// The paths and methods of a router, for `405` with `Allow` instead of `404` where only the method is wrong.
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

    /// The methods that a path takes, sorted; empty: nothing is there.
    ///
    /// Where several patterns match, the one with the fewest captures has the path, as in the router: what
    /// `/notifications/{id}` takes says nothing of `/notifications/batch`.
    func methods(of path: String) -> [String] {
        let segments = RouteTable.segments(of: path[...])
        let found = routes.withLock { routes in routes.filter { RouteTable.matches($0.segments, segments) } }
        let fewest = found.map(\.captures).min()
        return Set(found.filter { $0.captures == fewest }.map(\.method)).sorted()
    }

    private static func segments(of path: Substring) -> [Substring] { path.split(separator: "/") }

    private static func isCapture(_ segment: Substring) -> Bool {
        segment.contains("{") || segment.hasPrefix(":") || segment.contains("*")
    }

    /// Captures (`{id}`, `:id`) and `*` take one segment, `**` takes the rest.
    private static func matches(_ pattern: [Substring], _ path: [Substring]) -> Bool {
        for (index, segment) in pattern.enumerated() {
            if segment == "**" { return true }
            guard index < path.count else { return false }
            guard isCapture(segment) || segment == path[index] else { return false }
        }
        return pattern.count == path.count
    }
}

/// Counts the requests in flight, and refuses more than the limit.
final class InFlightRequests: Sendable {
    /// One request that counts until ``end()`` or until it is let go.
    final class Permit: Sendable {
        private let requests: InFlightRequests
        private let isHeld = Atomic(true)

        fileprivate init(_ requests: InFlightRequests) { self.requests = requests }

        deinit { end() }

        /// The request is done; only the first call counts.
        func end() {
            guard isHeld.exchange(false, ordering: .relaxed) else { return }
            requests.count.subtract(1, ordering: .relaxed)
        }
    }

    private let count = Atomic(0)
    private let limit = Atomic(Int.max)

    /// Requests that are being answered now.
    var current: Int { count.load(ordering: .relaxed) }

    /// Sets the limit; without one there is none.
    func setLimit(_ value: Int) { limit.store(value, ordering: .relaxed) }

    /// `nil`: as many as allowed are in flight already.
    func begin() -> Permit? {
        let (_, now) = count.add(1, ordering: .relaxed)
        guard now <= limit.load(ordering: .relaxed) else {
            count.subtract(1, ordering: .relaxed)
            return nil
        }
        return Permit(self)
    }
}
