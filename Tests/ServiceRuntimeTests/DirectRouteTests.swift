import HTTPTypes
import Hummingbird
import NIOCore
import ServiceConfiguration
import ServiceLifecycle
import StackKit
import Synchronization
import TestSupport
import Testing

@testable import ServiceRuntime

/// Direct routes on real connections. The router has the same paths and says that it was the router.
@Suite("Direct routes", .serialized, .timeLimit(.minutes(5)))
struct DirectRouteTests {
    private struct Failed: Error {}

    private struct Server {
        let port: Int
        let context: ServiceContext
        let group: ServiceGroup
        let held: HeldReplies

        func connect() throws -> RawConnection { try RawConnection(port: port) }

        /// Lets the direct requests go on that were held, the newest first.
        func release() { for body in held.take().reversed() { body() } }

        func isHeld(_ count: Int) async throws -> Bool { try await eventually { held.count == count } }
    }

    private func withServer(
        maxInFlight: Int? = nil, cors: CORSPolicy? = nil, _ body: (Server) async throws -> Void
    ) async throws {
        let context = ServiceContext.test()
        let router = makeRouter(of: BasicRequestContext.self, context: context, cors: cors)
        router.addOperations(readiness: [], context: context)
        router.get("/api/echo/:id") { _, context in "router \(context.parameters.get("id") ?? "")" }
        router.post(":name/echo") { request, context in
            "router \(context.parameters.get("name") ?? "") \(request.shown)"
        }
        router.post("/api/echo") { request, _ in "router \(String(buffer: try await request.body.collect(upTo: 4096)))"
        }
        let held = HeldReplies()
        var configuration = HTTPConfiguration(port: 0)
        if let maxInFlight { configuration.limits.maxInFlight = maxInFlight }
        let direct = DirectRoutes(Self.routes(held), cors: cors)
        try await withHTTPService(router, direct: direct, configuration, context) { port, group in
            // What is still held would keep the service from draining.
            defer { held.take().forEach { $0() } }
            try await body(Server(port: port, context: context, group: group, held: held))
        }
    }

    /// `later` is answered when the test says so, `no` is left to the router, `throw` and `problem` fail.
    private static func routes(_ held: HeldReplies) -> [DirectRoute] {
        [
            DirectRoute(.get, "/api/echo/:id") { request, reply in
                let name = request.parameter
                switch name {
                case "no": return false
                case "throw": reply(.failure(Failed()))
                case "large": reply(.success(text(String(repeating: "x", count: 32_768))))
                case "problem": reply { throw Problem.gone("It has gone.") }
                case "twice":
                    reply(.success(text("direct twice")))
                    reply(.success(text("again")))
                case _ where name.hasPrefix("later"):
                    held.append { reply(.success(text("direct \(name)"))) }
                default: reply(.success(text("direct \(name)")))
                }
                return true
            },
            DirectRoute(.post, "/api/echo", maxBodyBytes: 64) { request, reply in
                reply(.success(text("direct \(String(buffer: request.body))")))
                return true
            },
            DirectRoute(.post, ":name/echo", targets: ["/echo?v=1", "/echo/?v=1"], maxBodyBytes: 64) { request, reply in
                guard let plain = request.request else { return false }
                reply(.success(text("direct \(request.parameter) \(plain.shown)")))
                return true
            },
        ]
    }

    private static func text(_ text: String) -> CompleteResponse {
        CompleteResponse(status: .ok, headers: [.contentType: "text/plain"], body: ByteBuffer(string: text))
    }

    private func get(_ id: String, _ fields: String = "") -> String {
        "GET /api/echo/\(id) HTTP/1.1\r\nHost: a\r\n\(fields)\r\n"
    }

    private func post(_ body: String, _ fields: String = "") -> String {
        "POST /api/echo HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.utf8.count)\r\n\(fields)\r\n\(body)"
    }

    @Test(arguments: [
        ("/a/echo?v=1", "", "direct a "), ("/a-b.c/echo/?v=1", "", "direct a-b.c "), ("/a/echo?v=2", "", "router a "),
        ("/a/echo", "", "router a "), ("/a%20b/echo?v=1", "", "router a"),
        ("/a/echo?v=1", "Cookie: a\r\n", "router a "),
    ])
    func `A route can capture its first segment, and has the whole request`(
        _ target: String, _ fields: String, _ start: String
    ) async throws {
        try await withServer { server in
            let connection = try server.connect()
            connection.send(
                "POST \(target) HTTP/1.1\r\nhOst: a.example\r\nX-One: 1\r\nx-two:  2 \r\nX-One: 3\r\n\(fields)"
                    + "Content-Length: 4\r\n\r\nbody")
            #expect(try await connection.receives("POST a.example \(target) X-One=1,x-two=2,X-One=3,"))
            #expect(connection.text.contains("\r\n\r\n\(start)"), "\(connection.text)")
        }
    }

    @Test func `A request is answered`() async throws {
        try await withServer { server in
            let connection = try server.connect()
            connection.send(get("a", "X-Request-Id: mine\r\n"))
            #expect(try await connection.receives("direct a"))
            let text = connection.text.lowercased()
            #expect(text.hasPrefix("http/1.1 200 ok\r\n"))
            for field in ["content-length: 8", "content-type: text/plain", "x-request-id: mine"] {
                #expect(text.contains("\r\n\(field)\r\n"))
            }
            #expect(text.contains(/\r\ndate: [a-z]{3}, \d\d [a-z]{3} \d{4} \d\d:\d\d:\d\d gmt\r\n/))
            connection.send(post("the body"))
            #expect(try await connection.receives("direct the body"))
            #expect(
                server.context.metrics.exposition().contains(
                    #"securepush_http_requests_total{method="GET",route="/api/echo/{id}",status="200"} 1"#))
        }
    }

    @Test func `A body in pieces is answered`() async throws {
        try await withServer { server in
            let connection = try server.connect()
            for character in post("slowly") {
                connection.send(String(character))
                await Task.yield()
            }
            #expect(try await connection.receives("direct slowly"))
        }
    }

    @Test(arguments: [
        "Origin: https://a.example\r\n", "Expect: 100-continue\r\n", "Connection: close\r\n",
        "Content-Encoding: identity\r\n",
        "Connection: Upgrade\r\nUpgrade: websocket\r\n",
    ])
    func `An unusual request is the router's`(_ fields: String) async throws {
        try await withServer { server in
            let connection = try server.connect()
            connection.send(post("x", fields))
            #expect(try await connection.receives("router x"))
        }
    }

    @Test(arguments: ["GET /api/echo/no", "GET /api/echo/a?b=c", "GET /api/echo/%61", "HEAD /api/echo/a"])
    func `Other requests are the router's`(_ line: String) async throws {
        try await withServer { server in
            let connection = try server.connect()
            connection.send("\(line) HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try await connection.receives(line.hasPrefix("HEAD") ? "200 OK" : "router "))
            connection.send(get("b"))
            #expect(try await connection.receives("direct b"))
        }
    }

    @Test func `A long or chunked body is the router's`() async throws {
        try await withServer { server in
            let connection = try server.connect()
            let long = String(repeating: "l", count: 65)
            connection.send(post(long))
            #expect(try await connection.receives("router \(long)"))
            connection.send(
                "POST /api/echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
            #expect(try await connection.receives("router abc"))
        }
    }

    @Test func `Responses keep the order of their requests`() async throws {
        try await withServer { server in
            let connection = try server.connect()
            connection.send(get("1") + get("later2") + get("3") + get("later4") + post("5") + get("no") + get("6"))
            #expect(try await server.isHeld(1))
            #expect(try await connection.receives("direct 1"))
            #expect(!connection.text.contains("direct 3"))
            server.release()
            #expect(try await server.isHeld(1))
            #expect(try await connection.receives("direct 3"))
            #expect(!connection.text.contains("direct 5"))
            server.release()
            // Behind a request of the router all are the router's, until it has answered.
            #expect(try await connection.receives("router 6"))
            connection.send(get("7"))
            #expect(try await connection.receives("direct 7"))
            let bodies = connection.text.split(separator: "\r\n").compactMap { line in
                line.firstMatch(of: /(direct|router) [a-z0-9]+/)?.output.0
            }
            #expect(
                bodies == [
                    "direct 1", "direct later2", "direct 3", "direct later4", "direct 5", "router no", "router 6",
                    "direct 7",
                ])
        }
    }

    @Test func `Many connections are answered when their time comes`() async throws {
        try await withServer { server in
            let connections = try (0..<20).map { _ in try server.connect() }
            for (number, connection) in connections.enumerated() { connection.send(get("later\(number)")) }
            #expect(try await server.isHeld(20))
            server.release()
            for (number, connection) in connections.enumerated() {
                #expect(try await connection.receives("direct later\(number)"))
            }
        }
    }

    @Test func `A failure is a problem`() async throws {
        try await withServer { server in
            let connection = try server.connect()
            connection.send(get("throw", "X-Request-Id: first\r\n"))
            #expect(try await connection.receives(#""status":500,"instance":"first"}"#))
            connection.send(get("problem", "X-Request-Id: second\r\n"))
            #expect(try await connection.receives(#""detail":"It has gone.","instance":"second"}"#))
            #expect(connection.text.contains("application/problem+json"))
        }
    }

    @Test func `Only the first reply counts`() async throws {
        try await withServer { server in
            let connection = try server.connect()
            connection.send(get("twice") + get("a"))
            #expect(try await connection.receives("direct a"))
            #expect(!connection.text.contains("again"))
        }
    }

    @Test func `A full service refuses by the router`() async throws {
        try await withServer(maxInFlight: 1) { server in
            let (first, second) = (try server.connect(), try server.connect())
            first.send(get("later"))
            #expect(try await server.isHeld(1))
            second.send(get("a"))
            #expect(try await second.receives("503 Service Unavailable"))
            server.release()
            #expect(try await first.receives("direct later"))
            second.send(get("b"))
            #expect(try await second.receives("direct b"))
        }
    }

    @Test func `A client that does not read is not answered`() async throws {
        try await withServer { server in
            let connection = try server.connect()
            for _ in 0..<500 { connection.send(get("large")) }
            let name = #"securepush_http_requests_total{method="GET",route="/api/echo/{id}",status="200"} "#
            func answered() -> Int {
                let line = server.context.metrics.exposition().split(separator: "\n").first { $0.hasPrefix(name) }
                return line.flatMap { Int($0.dropFirst(name.count)) } ?? 0
            }
            // Until nothing changes any more: what the kernel takes, and no more.
            var former = -1
            try await expectEventually {
                defer { former = answered() }
                return former > 0 && former == answered()
            }
            #expect(answered() < 400)
            try await expectEventually { connection.text.utf8.count > 500 * 32_768 }
            connection.send(get("a"))
            #expect(try await connection.receives("direct a"))
        }
    }

    @Test func `A client that stops sending gets its answer`() async throws {
        try await withServer { server in
            let connection = try server.connect()
            connection.send(get("later"))
            #expect(try await server.isHeld(1))
            connection.finishSending()
            server.release()
            #expect(try await connection.receives("direct later"))
            #expect(try await eventually { connection.isClosed })
        }
    }

    @Test func `A closed connection needs no answer`() async throws {
        try await withServer { server in
            do {
                let connection = try server.connect()
                connection.send(get("later"))
                #expect(try await server.isHeld(1))
            }
            #expect(server.context.requests.current == 1)
            server.release()
            try await expectEventually { server.context.requests.current == 0 }
            try await expectEventually {
                server.context.metrics.exposition().contains("securepush_http_connections 0\n")
            }
        }
    }

    @Test func `A shutdown finishes the request in flight`() async throws {
        try await withServer { server in
            let connection = try server.connect()
            connection.send(get("later"))
            #expect(try await server.isHeld(1))
            await server.group.triggerGracefulShutdown()
            try await expectEventually { (try? RawConnection(port: server.port)) == nil }
            server.release()
            #expect(try await connection.receives("direct later"))
            #expect(try await eventually { connection.isClosed })
        }
    }

    @Test func `Caches learn that the origin matters`() async throws {
        let origin = try WebOrigin("https://app.example")
        try await withServer(cors: CORSPolicy(origins: [origin])) { server in
            let connection = try server.connect()
            connection.send(get("a"))
            #expect(try await connection.receives("direct a"))
            #expect(connection.text.lowercased().contains("\r\nvary: origin\r\n"))
            connection.send(get("b", "Origin: https://app.example\r\n"))
            #expect(try await connection.receives("router b"))
        }
    }
}

/// The direct requests that a test holds.
private final class HeldReplies: Sendable {
    private let bodies = Mutex<[@Sendable () -> Void]>([])

    var count: Int { bodies.withLock { $0.count } }

    func append(_ body: @escaping @Sendable () -> Void) { bodies.withLock { $0.append(body) } }

    func take() -> [@Sendable () -> Void] {
        bodies.withLock { bodies in
            defer { bodies = [] }
            return bodies
        }
    }
}

extension Request {
    /// Its head in a line. Only the router's parser divides cookies.
    fileprivate var shown: String {
        let fields = headers.map { "\($0.name.rawName)=\($0.value)" }.joined(separator: ",")
        return "\(method) \(head.authority ?? "") \(head.path ?? "") \(fields)"
    }
}
