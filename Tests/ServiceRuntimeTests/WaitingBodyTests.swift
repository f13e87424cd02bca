import Foundations
import Hummingbird
import NIOCore
import TestSupport
import Testing

@testable import ServiceRuntime

/// Requests whose bodies do not come: they keep nobody out, end after some time, and are bounded.
@Suite("Bodies that are awaited", .serialized, .timeLimit(.minutes(3)))
struct WaitingBodyTests {
    /// The heads of requests whose bodies do not come, or not to their end.
    private static let begun = [
        "POST /collected HTTP/1.1\r\nHost: a\r\nContent-Length: 6000\r\n\r\n",
        "POST /collected HTTP/1.1\r\nHost: a\r\nContent-Length: 6000\r\n\r\n12345",
        "POST /collected HTTP/1.1\r\nHost: a\r\nContent-Length: 5000000\r\n\r\n",
        "POST /collected HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
        "POST /collected HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n",
        // The last chunk is there, and the trailer is not.
        "POST /collected HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n0\r\nX: ",
        "DELETE /collected HTTP/1.1\r\nHost: a\r\nContent-Length: 6000\r\n\r\n",
        "PUT /collected HTTP/1.1\r\nHost: a\r\nContent-Length: 6000\r\n\r\n{",
        "POST /collected HTTP/1.0\r\nContent-Length: 6000\r\n\r\n1",
    ]

    private func addRoutes(_ router: Router<ServiceRequestContext>) {
        router.get("/fast") { _, _ in "fast" }
        for method in [HTTPRequest.Method.delete, .put] {
            router.on("/collected", method: method) { request, _ in
                "\(try await request.body.collect(upTo: 1 << 24).readableBytes) bytes"
            }
        }
    }

    private func expectAwaited(_ count: Int, _ server: LimitedServer) async throws {
        try await expectEventually {
            server.context.metrics.exposition().contains("securepush_http_bodies_awaited \(count)\n")
        }
    }

    private func isAnswered(_ server: LimitedServer) async throws -> Bool {
        let connection = try server.connect()
        connection.send("GET /fast HTTP/1.1\r\nHost: a\r\n\r\n")
        return try await connection.receives("\r\n\r\nfast")
    }

    @Test(arguments: begun)
    func `Awaited bodies hold no permit`(head: String) async throws {
        try await withLimitedServer({ $0.maxInFlight = 2 }, routes: addRoutes) { server in
            let waiting = try (0..<6).map { _ in try server.connect() }
            for connection in waiting { connection.send(head) }
            try await expectAwaited(6, server)
            try await expectEventually { server.context.requests.current == 0 }
            #expect(try await isAnswered(server))
            #expect(waiting.allSatisfy { !$0.isClosed })
        }
    }

    @Test func `HTTP2 bodies hold no permit`() async throws {
        try await withLimitedServer(isTLS: true, { $0.maxInFlight = 2 }, routes: addRoutes) { server in
            let waiting = try await RawHTTP2(port: server.port)
            for number in 0..<30 {
                let stream = UInt32(2 * number + 1)
                let fields = number.isMultiple(of: 2) ? ["content-length": "60"] : [:]
                waiting.request("POST", "/collected", stream: stream, isComplete: false, fields: fields)
                if number.isMultiple(of: 3) { waiting.data("x", stream: stream) }
            }
            try await expectAwaited(30, server)
            try await expectEventually { server.context.requests.current == 0 }
            let other = try await RawHTTP2(port: server.port)
            other.request("GET", "/fast", stream: 1)
            try await expectEventually { other.body(of: 1) == "fast" }
            waiting.request("GET", "/fast", stream: 61)
            try await expectEventually { waiting.body(of: 61) == "fast" }
            waiting.data("12345", stream: 3, isLast: true)
            try await expectEventually { waiting.body(of: 3) == "6 bytes" || waiting.body(of: 3) == "5 bytes" }
        }
    }

    @Test func `A body that arrives late needs a permit then`() async throws {
        let (released, release) = AsyncStream.makeStream(of: Void.self)
        try await withLimitedServer(
            { $0.maxInFlight = 1 },
            routes: { router in
                addRoutes(router)
                router.get("/slow") { _, _ in
                    for await _ in released {}
                    return "done"
                }
            },
            { server in
                let late = try server.connect()
                late.send("POST /collected HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n12")
                try await expectAwaited(1, server)
                try await expectEventually { server.context.requests.current == 0 }
                let busy = try server.connect()
                busy.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
                try await expectEventually { server.context.requests.current == 1 }
                late.send("345")
                #expect(try await late.receives("HTTP_MAX_IN_FLIGHT"))
                release.finish()
                #expect(try await busy.receives("done"))
            })
    }

    // MARK: The time

    @Test(arguments: begun)
    func `A small one has a deadline as a whole`(head: String) async throws {
        try await withLimitedServer({ $0.smallBodyTimeout = .milliseconds(500) }, routes: addRoutes) { server in
            let connection = try server.connect()
            connection.send(head)
            // Each byte comes long before HTTP_BODY_TIMEOUT.
            try await expectEventually {
                connection.send(head.contains("chunked") ? "" : "x")
                return connection.isClosed
            }
            #expect(server.closed(.body) == 1)
        }
    }

    @Test func `A dripped HTTP2 body ends`() async throws {
        try await withLimitedServer(isTLS: true, { $0.smallBodyTimeout = .milliseconds(500) }, routes: addRoutes) {
            server in
            let connection = try await RawHTTP2(port: server.port)
            let fields = ["content-length": "6000"]
            connection.request("POST", "/collected", stream: 1, isComplete: false, fields: fields)
            connection.request("POST", "/collected", stream: 3, isComplete: false)
            try await expectEventually {
                for stream: UInt32 in [1, 3] { connection.data("x", stream: stream) }
                return server.closed(.body) == 2
            }
            connection.request("GET", "/fast", stream: 5)
            try await expectEventually { connection.body(of: 5) == "fast" }
        }
    }

    @Test func `A long one may take as long as it brings enough`() {
        var limits = HTTPLimits()
        limits.bodyTimeout = .seconds(30)
        var clock = RequestBodyClock(limits: limits)
        var now = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
        clock.began(length: 1 << 20, now: now)
        #expect(clock.deadline == now + .seconds(10))
        clock.readCompleted(now: now)
        clock.wantsRead(now: now)
        let start = now
        for _ in 0..<60 {
            now = now + .seconds(1)
            #expect(now < clock.deadline)
            clock.received(1024 + 400, now: now)
        }
        // 60 s later it has brought what 83 s need.
        #expect(clock.deadline == start + .seconds(83))
        // The time in which the service does not read does not count.
        clock.readCompleted(now: now)
        clock.wantsRead(now: now + .seconds(100))
        #expect(clock.deadline == start + .seconds(183))
        clock.began(length: nil, isStreamed: true, now: now)
        #expect(clock.deadline == now + .seconds(75))
        clock.began(length: 64 * 1024, now: now)
        clock.received(60_000, now: now + .seconds(9))
        #expect(clock.deadline == now + .seconds(10))
    }

    /// Before, 2 MiB but for some bytes were kept for half an hour.
    @Test(arguments: [2 << 20, nil] as [Int?])
    func `What came fast earns no long wait`(length: Int?) {
        var clock = RequestBodyClock(limits: HTTPLimits())
        var now = NIODeadline.uptimeNanoseconds(1_000_000_000)
        clock.began(length: length, now: now)
        clock.wantsRead(now: now)
        clock.received((2 << 20) - 80, now: now)
        #expect(clock.deadline == now + .seconds(30))
        let end = clock.deadline
        for _ in 0..<29 {
            now = now + .seconds(1)
            clock.received(1, now: now)
            #expect(clock.deadline == end)
        }
        // Whoever goes on fast enough may.
        for _ in 0..<60 {
            now = now + .seconds(1)
            clock.received(1024, now: now)
            #expect(clock.deadline > now)
        }
    }

    @Test(arguments: ["/collected", "//collected", "/collected/", "http://a/collected"])
    func `A stream is not cut off`(path: String) async throws {
        try await withLimitedServer(
            {
                $0.smallBodyTimeout = .milliseconds(100)
                $0.streamedPaths = ["/collected"]
            },
            routes: { router in
                addRoutes(router)
                router.post("/whole") { request, _ in "\(try await request.body.collect(upTo: 99).readableBytes)" }
            }
        ) { server in
            let stream = try server.connect()
            stream.send("POST \(path) HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n")
            let small = try server.connect()
            small.send("POST /whole HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n")
            try await expectEventually { small.isClosed }
            stream.send("1\r\ny\r\n0\r\n\r\n")
            #expect(try await stream.receives("2 bytes"))
        }
    }

    // MARK: The number

    @Test(arguments: begun)
    func `An address has its share`(head: String) async throws {
        try await withLimitedServer({ $0.maxWaitingBodiesPerAddress = 2 }, routes: addRoutes) { server in
            let waiting = try (0..<2).map { _ in try server.connect() }
            for connection in waiting { connection.send(head) }
            try await expectAwaited(2, server)
            let third = try server.connect()
            third.send(head)
            #expect(try await third.receives("wait for their bodies"))
            #expect(third.text.hasPrefix(head.contains("HTTP/1.0") ? "HTTP/1.0 503 " : "HTTP/1.1 503 "))
            #expect(third.text.lowercased().contains("retry-after: 1"))
            #expect(server.closed(.waiting) == 1)
            // A body that comes with its head does not wait.
            let complete = try server.connect()
            complete.send("POST /collected HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n12345")
            #expect(try await complete.receives("5 bytes"))
            #expect(try await isAnswered(server))
        }
    }

    @Test func `Many addresses leave places for others`() throws {
        var limits = HTTPLimits()
        limits.maxWaitingBodies = 200
        limits.maxWaitingBodiesPerAddress = 60
        let bodies = WaitingBodies(limits: limits)
        let addresses = (0..<4).compactMap { ClientAddress("192.0.2.\($0)") }
        let taken = addresses.map { address in (0..<100).count { _ in bodies.begin(address) } }
        #expect(taken == [60, 40, 32, 32])
        #expect(bodies.begin(ClientAddress("198.51.100.1")))
        for _ in 0..<taken[0] { bodies.end(addresses[0]) }
        #expect(bodies.begin(addresses[0]))
    }
}
