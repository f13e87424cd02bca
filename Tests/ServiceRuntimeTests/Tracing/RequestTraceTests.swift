import Domain
import Foundations
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import ServiceConfiguration
import ServiceLifecycle
import StackKit
import TestSupport
import Testing

@testable import ServiceRuntime

/// Spans and lines of the access log, by the router and by a direct route.
@Suite("Spans and the access log of requests", .timeLimit(.minutes(5)))
struct RequestTraceTests {
    private static let sender = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    private static let notification = "00-11111111111111111111111111111111-2222222222222222-01"

    private struct Broken: Error {}

    private let book = SpanTable()
    private let sink = LineSink()

    private func context(isTraced: Bool = true, logsAccess: Bool = true) -> ServiceContext {
        ServiceContext(
            name: "test", logger: sink.logger(level: .info), metrics: PrometheusMetrics(),
            tracer: isTraced ? book.tracer() : nil, logsAccess: logsAccess)
    }

    private func send(
        _ path: String, _ method: HTTPRequest.Method = .get, headers: HTTPFields = [:], context: ServiceContext? = nil
    ) async throws -> TestResponse {
        let context = context ?? self.context()
        return try await withApplication(context: context) { router in
            router.addOperations(readiness: [], context: context)
            router.get("/api/users/:name") { request, _ in request.headers[.traceparent] ?? "none" }
            router.get("/api/notifications/:id") { _, _ -> String in
                RequestTrace.current?.join(Self.notification)
                throw Problem.gone("It has gone.")
            }
            router.get("/broken") { _, _ -> String in throw Broken() }
            router.get("/stream") { _, _ in
                Response(
                    status: .ok,
                    body: ResponseBody { writer in
                        for _ in 0..<3 { try await writer.write(ByteBuffer(string: "abc")) }
                        try await writer.finish(nil)
                    })
            }
        } _: { client in
            try await client.execute(uri: path, method: method, headers: headers)
        }
    }

    @Test func `A span is named by its route and holds nothing of the request`() async throws {
        let headers: HTTPFields = [.authorization: "Bearer hunter2", .traceparent: Self.sender]
        let response = try await send("/api/users/alice?token=hunter2", headers: headers)
        let span = try #require(book.spans.first)
        #expect(book.spans.count == 1)
        #expect(span.name == "GET /api/users/{name}" && "\(span.kind)" == "server" && !span.hasFailed)
        #expect(
            span.texts == [
                "http.request.method": "GET", "http.route": "/api/users/{name}", "http.response.status_code": "200",
            ])
        #expect(span.trace.traceID == "0af7651916cd43dd8448eb211c80319c" && span.parentSpanID == "b7ad6b7169203331")
        // What the route does is below the span, not below its caller.
        #expect(String(buffer: response.body) == span.trace.traceparent)
        let line = try #require(sink.lines.first { $0.contains("Request answered") })
        for text in ["alice", "hunter2", "token"] {
            #expect(!"\(span)".contains(text) && !line.contains(text))
        }
        #expect(line.contains(#""trace_id":"\#(span.trace.traceID)""#) && line.contains(span.trace.spanID))
        #expect(line.contains(#""severity_text":"INFO""#) && line.contains(#""http.route":"/api/users/{name}""#))
        #expect(line.contains(#""http.response.body.size":"55""#))
    }

    @Test func `An unknown path is named by its method alone`() async throws {
        _ = try await send("/api/alice/secret?x=y", .post)
        let span = try #require(book.spans.first)
        #expect(span.name == "POST" && span.texts["http.route"] == nil)
        #expect(!"\(span)".contains("alice"))
        // The operator wants to see which path it was.
        let line = try #require(sink.lines.first { $0.contains("Request answered") })
        #expect(line.contains(#""url.path":"/api/alice/secret""#) && !line.contains("x=y"))
    }

    @Test(arguments: ["/livez", "/readyz", "/metrics", "/version"])
    func `Operators' requests are neither traced nor logged`(_ path: String) async throws {
        _ = try await send(path)
        #expect(book.spans.isEmpty && !sink.lines.contains { $0.contains("Request answered") })
    }

    @Test func `A failure of the service is an error`() async throws {
        _ = try await send("/broken")
        let span = try #require(book.spans.first)
        #expect(span.hasFailed && span.texts["error.type"] == "500")
    }

    @Test func `A request joins the trace of what it reads`() async throws {
        _ = try await send("/api/notifications/7")
        let span = try #require(book.spans.first)
        #expect(book.spans.count == 1 && !span.hasFailed)
        #expect(span.trace.traceID == String(repeating: "1", count: 32))
        #expect(span.parentSpanID == String(repeating: "2", count: 16) && span.links.isEmpty)
        let line = try #require(sink.lines.first { $0.contains("Request answered") })
        #expect(line.contains(span.trace.traceID) && line.contains(#""id":"7""#))
    }

    /// An ID may be asked for in any case, and a search in the log finds it nevertheless.
    @Test func `The ID of a notification is logged as answers have it`() async throws {
        let id = NotificationID().description
        _ = try await send("/api/notifications/\(id.uppercased())")
        let line = try #require(sink.lines.first { $0.contains("Request answered") })
        #expect(line.contains(#""id":"\#(id)""#))
    }

    @Test func `A caller's trace is kept and linked`() async throws {
        _ = try await send("/api/notifications/7", headers: [.traceparent: Self.sender])
        let span = try #require(book.spans.first)
        #expect(span.trace.traceID == "0af7651916cd43dd8448eb211c80319c")
        #expect(span.links.map(\.traceparent) == [Self.notification])
    }

    @Test func `A streamed answer ends with its last byte`() async throws {
        _ = try await send("/stream")
        #expect(book.spans.count == 1)
        #expect(sink.lines.contains { $0.contains(#""http.response.body.size":"9""#) })
    }

    @Test func `Without the settings there is nothing`() async throws {
        let response = try await send("/api/users/alice", context: context(isTraced: false, logsAccess: false))
        #expect(String(buffer: response.body) == "none")
        #expect(book.spans.isEmpty && !sink.lines.contains { $0.contains("Request answered") })
    }

    @Test func `A direct route is traced and logged in the same way`() async throws {
        let context = context()
        let router = makeRouter(of: ServiceRequestContext.self, context: context)
        router.get("/api/notifications/:id") { _, _ in "router" }
        let route = DirectRoute(.get, "/api/notifications/:id") { request, reply in
            if request.parameter == "left" { return false }
            let inner = request.traceContext?.traceparent ?? "none"
            request.trace?.join(Self.notification)
            reply(
                .success(CompleteResponse(status: .ok, headers: [:], body: ByteBuffer(string: "direct \(inner)"))))
            return true
        }
        var configuration = HTTPConfiguration(port: 0)
        configuration.limits.trustedProxies = [AddressBlock("127.0.0.1")].compactMap(\.self)
        try await withHTTPService(router, direct: DirectRoutes([route]), configuration, context) { port, _ in
            let connection = try RawConnection(port: port)
            let fields = ["", "traceparent: \(Self.sender)\r\nX-Forwarded-For: 198.51.100.7\r\n"]
            for (index, field) in fields.enumerated() {
                connection.send("GET /api/notifications/n\(index) HTTP/1.1\r\nHost: a\r\n\(field)\r\n")
                try await expectEventually { book.spans.count == index + 1 }
            }
            connection.send("GET /api/notifications/left HTTP/1.1\r\nHost: a\r\nForwarded: for=198.51.100.8\r\n\r\n")
            #expect(try await connection.receives("router"))
        }
        // The request that was left to the router has one span.
        #expect(book.spans.count == 3 && Set(book.spans.map(\.name)) == ["GET /api/notifications/{id}"])
        #expect(book.spans[0].parentSpanID == String(repeating: "2", count: 16))
        #expect(book.spans[1].parentSpanID == "b7ad6b7169203331" && book.spans[1].links.count == 1)
        #expect(book.spans[2].parentSpanID == nil)
        let lines = sink.lines.filter { $0.contains("Request answered") }
        let clients = ["127.0.0.1", "198.51.100.7", "198.51.100.8"]
        #expect(lines.count == 3)
        for (line, client) in zip(lines, clients) { #expect(line.contains(#""client.address":"\#(client)""#)) }
        #expect(lines[0].contains(#""id":"n0""#) && lines[0].contains(book.spans[0].trace.spanID))
    }

    @Test func `A captured segment that is no ID is in no line, whoever answers`() async throws {
        let context = context(isTraced: false)
        let router = makeRouter(of: ServiceRequestContext.self, context: context)
        router.post(":name/echo") { _, _ in "router" }
        let route = DirectRoute(.post, ":name/echo", targets: ["/echo?v=1"], maxBodyBytes: 8) { _, reply in
            reply(.success(CompleteResponse(status: .ok, headers: [:], body: ByteBuffer(string: "direct"))))
            return true
        }
        try await withHTTPService(
            router, direct: DirectRoutes([route]), HTTPConfiguration(port: 0), context
        ) { port, _ in
            let connection = try RawConnection(port: port)
            for (query, answer) in [("v=1", "direct"), ("v=2", "router")] {
                connection.send("POST /alice/echo?\(query) HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")
                #expect(try await connection.receives(answer))
            }
        }
        let lines = sink.lines.filter { $0.contains("Request answered") }
        #expect(lines.count == 2)
        for line in lines { #expect(line.contains(#""http.route":"/{name}/echo""#) && !line.contains("alice")) }
    }
}
