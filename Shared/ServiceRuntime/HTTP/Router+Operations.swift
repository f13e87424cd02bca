import HTTPTypes
public import Hummingbird
import Logging
import NIOCore
import SecurePushCore

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
