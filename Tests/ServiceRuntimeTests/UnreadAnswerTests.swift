import Hummingbird
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Synchronization
import TestSupport
import Testing

@testable import ServiceRuntime

/// Clients that do not read their answers, or send frames for nothing.
@Suite("Answers that nobody reads", .serialized, .timeLimit(.minutes(3)))
struct UnreadAnswerTests {
    private func addRoutes(_ router: Router<ServiceRequestContext>) {
        router.get("/page") { _, _ in
            Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(repeating: 0x78, count: 32 * 1024)))
        }
    }

    @Test func `A connection has 32 streams at once`() async throws {
        try await withLimitedServer(isTLS: true, { _ in }) { server in
            let connection = try await RawHTTP2(port: server.port)
            try await expectEventually { connection.frames.contains { $0.type == 4 } }
            let settings = try #require(connection.frames.first { $0.type == 4 }).payload
            let pairs = stride(from: 0, to: settings.count - 5, by: 6).map { Array(settings[$0..<$0 + 6]) }
            #expect(pairs.contains([0, 3, 0, 0, 0, 32]))
            // This client does not acknowledge the settings. What is above is refused, and can be sent again.
            for number in 0..<40 {
                connection.request("POST", "/collected", stream: UInt32(2 * number + 1), isComplete: false)
            }
            try await expectEventually { connection.frames.count { $0.type == 3 } == 8 }
            let resets = connection.frames.filter { $0.type == 3 }
            #expect(resets.allSatisfy { $0.stream > 64 && $0.payload == [0, 0, 0, 7] })
            connection.data("x", stream: 1, isLast: true)
            try await expectEventually { connection.body(of: 1) == "1 bytes" }
            connection.request("GET", "/version", stream: 81)
            try await expectEventually { !connection.body(of: 81).isEmpty }
        }
    }

    @Test(arguments: ["/page", "/metrics", "/nowhere", "/livez"])
    func `An answer is in flight until it has left`(path: String) async throws {
        try await withLimitedServer(isTLS: true, { _ in }, routes: addRoutes) { server in
            let connection = try await RawHTTP2(port: server.port, window: 0)
            for stream: UInt32 in [1, 3, 5] { connection.request("GET", path, stream: stream) }
            try await expectEventually { server.context.requests.current == 3 }
            // WINDOW_UPDATE of the streams.
            for stream: UInt32 in [1, 3, 5] {
                connection.send(RawHTTP2.frame(8, stream: stream, payload: [0, 1, 0, 0]))
            }
            connection.send(RawHTTP2.frame(8, payload: [0, 1, 0, 0]))
            try await expectEventually { server.context.requests.current == 0 }
            try await expectEventually { !connection.body(of: 5).isEmpty }
        }
    }

    @Test(arguments: ["/page", "/metrics", "/nowhere"])
    func `A connection with too much unread is closed`(path: String) async throws {
        try await withLimitedServer(isTLS: true, { $0.slowReaderTimeout = .milliseconds(300) }, routes: addRoutes) {
            server in
            let connection = try await RawHTTP2(port: server.port, window: 0)
            for number in 0..<30 { connection.request("GET", path, stream: UInt32(2 * number + 1)) }
            try await expectEventually { connection.isClosed }
            #expect(server.closed(.write) == 1)
            try await expectEventually { server.context.requests.current == 0 }
        }
    }

    @Test func `All connections together have a bound`() async throws {
        try await withLimitedServer(
            isTLS: true,
            {
                $0.maxUnsentBytesInAll = 1 << 20
                $0.slowReaderTimeout = .seconds(3600)
            }, routes: addRoutes
        ) { server in
            var connections: [RawHTTP2] = []
            for _ in 0..<10 {
                let connection = try await RawHTTP2(port: server.port, window: 0)
                for number in 0..<8 { connection.request("GET", "/page", stream: UInt32(2 * number + 1)) }
                connections.append(connection)
            }
            // Each has 384 KiB, so two stay.
            try await expectEventually { connections.count { !$0.isClosed } <= 2 }
            let reader = try await RawHTTP2(port: server.port)
            reader.request("GET", "/page", stream: 1)
            try await expectEventually { reader.body(of: 1).count == 32 * 1024 }
        }
    }

    /// Nobody takes the rest of an answer whose stream was reset, and nothing of it waits.
    @Test(arguments: [1, 20]) func `What was reset is not unread`(parts: Int) async throws {
        let isOver = Mutex(false)
        let addPart = { (router: Router<ServiceRequestContext>) in
            addRoutes(router)
            router.get("/part") { _, _ in
                Response(
                    status: .ok,
                    body: ResponseBody { writer in
                        for _ in 0..<parts {
                            try await writer.write(ByteBuffer(repeating: 0x78, count: 60_000 / parts))
                        }
                        while !isOver.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(20)) }
                        try await writer.finish(nil)
                    })
            }
        }
        try await withLimitedServer(isTLS: true, { $0.maxUnsentBytesInAll = 256 * 1024 }, routes: addPart) { server in
            defer { isOver.withLock { $0 = true } }
            let connection = try await RawHTTP2(port: server.port)
            connection.send(RawHTTP2.frame(8, payload: [0x3F, 0, 0, 0]))
            for number in 0..<10 {
                let stream = UInt32(2 * number + 1)
                connection.request("GET", "/part", stream: stream)
                try await expectEventually { connection.body(of: stream).count == 60_000 }
                connection.send(RawHTTP2.frame(3, stream: stream, payload: [0, 0, 0, 8]))
            }
            connection.request("GET", "/page", stream: 21)
            try await expectEventually { connection.body(of: 21).count == 32 * 1024 }
            #expect(server.closed(.write) == 0 && !connection.isClosed)
        }
    }

    @Test func `Who needs a permit gets it`() async throws {
        try await withLimitedServer(isTLS: true, { $0.maxInFlight = 4 }, routes: addRoutes) { server in
            let silent = try await RawHTTP2(port: server.port, window: 0)
            for number in 0..<4 { silent.request("GET", "/page", stream: UInt32(2 * number + 1)) }
            try await expectEventually { server.context.requests.current == 4 }
            let reader = try await RawHTTP2(port: server.port)
            reader.request("GET", "/page", stream: 1)
            try await expectEventually { reader.body(of: 1).count == 32 * 1024 && silent.isClosed }
        }
    }

    @Test func `A pipeline of HTTP1 is bounded`() async throws {
        try await withLimitedServer({ $0.slowReaderTimeout = .seconds(3600) }, routes: addRoutes) { server in
            let connection = try server.connect()
            for _ in 0..<2000 { connection.send("GET /page HTTP/1.1\r\nHost: a\r\n\r\n") }
            let page = #"securepush_http_requests_total{method="GET",route="/page",status="200"} "#
            func answered() -> Int {
                let line = server.context.metrics.exposition().split(separator: "\n").first { $0.hasPrefix(page) }
                return line.flatMap { Int($0.dropFirst(page.count)) } ?? 0
            }
            try await expectEventually { server.context.requests.current == 1 }
            var (last, unchanged) = (0, 0)
            try await expectEventually {
                let count = answered()
                unchanged = count == last ? unchanged + 1 : 0
                last = count
                return count > 0 && unchanged >= 50
            }
            // What the kernel takes, and no more.
            #expect(last < 1000)
        }
    }

    // MARK: Frames

    @Test(arguments: [
        ("WINDOW_UPDATE", RawHTTP2.frame(8, payload: [0, 0, 0, 1])),
        ("PING", RawHTTP2.frame(6, payload: [UInt8](repeating: 0, count: 8))),
        ("SETTINGS", RawHTTP2.frame(4)), ("PRIORITY", RawHTTP2.frame(2, stream: 1, payload: [0, 0, 0, 0, 1])),
        ("unknown", RawHTTP2.frame(0x42)), ("unknown with bytes", RawHTTP2.frame(0xF0, stream: 5, payload: [1, 2, 3])),
        ("PRIORITY_UPDATE", RawHTTP2.frame(0x10, payload: [0, 0, 0, 1])),
        ("ALTSVC", RawHTTP2.frame(0x0A, payload: [0, 0])),
        ("DATA of one byte", RawHTTP2.frame(0, stream: 1, payload: [1])),
        ("PING answers", RawHTTP2.frame(6, flags: 1, payload: [UInt8](repeating: 0, count: 8))),
        ("WINDOW_UPDATE of a stream", RawHTTP2.frame(8, stream: 1, payload: [0, 0, 0, 1])),
    ])
    func `Floods of frames are closed`(name: String, frame: [UInt8]) async throws {
        try await withLimitedServer(isTLS: true, { _ in }) { server in
            let connection = try await RawHTTP2(port: server.port)
            connection.request("POST", "/collected", stream: 1, isComplete: false)
            try await expectEventually { connection.frames.contains { $0.type == 4 } }
            let flood = (0..<3000).flatMap { _ in frame }
            try await expectEventually {
                connection.send(flood)
                return connection.isClosed
            }
            #expect(connection.frames.contains { $0.type == 7 || $0.type == 3 }, "\(name)")
        }
    }

    @Test func `The meter allows what a client needs`() {
        let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
        let preface = ByteBuffer(string: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        let update = ByteBuffer(bytes: RawHTTP2.frame(8, payload: [0, 0, 64, 0]))
        var meter = FrameMeter(now: start)
        var refused = meter.received(preface, now: start) ? 0 : 1
        // A large answer: two for each 16 KiB.
        for _ in 0..<20_000 {
            meter.sent(16_384)
            for _ in 0..<2 where !meter.received(update, now: start) { refused += 1 }
        }
        // Requests and their bodies are not counted, in whatever pieces they come.
        let body =
            RawHTTP2.frame(1, flags: 4, stream: 1, payload: [1, 2, 3])
            + RawHTTP2.frame(0, stream: 1, payload: [UInt8](repeating: 0, count: 100))
        for _ in 0..<5_000 {
            for byte in body where !meter.received(ByteBuffer(bytes: [byte]), now: start) { refused += 1 }
        }
        // Slow ones may go on for ever.
        var slow = FrameMeter(now: start)
        _ = slow.received(preface, now: start)
        for number in 0..<20_000 where !slow.received(update, now: start + .milliseconds(2 * Int64(number))) {
            refused += 1
        }
        #expect(refused == 0)
        var flood = FrameMeter(now: start)
        _ = flood.received(preface, now: start)
        for _ in 0..<2000 where !flood.received(update, now: start) { refused += 1 }
        #expect(refused == 0)
        let isAllowed = flood.received(update, now: start)
        #expect(!isAllowed)
    }

    @Test(arguments: [1, 1000])
    func `Padding is no content`(chunk: Int) {
        let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
        func passes(_ frame: [UInt8], _ count: Int) -> Bool {
            var meter = FrameMeter(now: start)
            _ = meter.received(ByteBuffer(string: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), now: start)
            var isAllowed = true
            for _ in 0..<count {
                for index in stride(from: 0, to: frame.count, by: chunk) {
                    let part = ByteBuffer(bytes: frame[index..<min(index + chunk, frame.count)])
                    isAllowed = meter.received(part, now: start) && isAllowed
                }
            }
            return isAllowed
        }
        func padded(_ content: Int, flags: UInt8 = 8) -> [UInt8] {
            RawHTTP2.frame(0, flags: flags, stream: 1, payload: [30] + [UInt8](repeating: 8, count: content + 30))
        }
        #expect(passes(padded(1), 2000) && !passes(padded(1), 2001))
        #expect(passes(padded(16), 3000))
        // The last frame of a stream is not counted.
        #expect(passes(padded(1, flags: 9), 3000))
    }

    // MARK: Handlers

    /// A pipeline in which a handler is missing that the handlers of requests need.
    @Test(arguments: [0, 1, 2])
    func `A connection without its handlers is closed`(number: Int) throws {
        let channel = EmbeddedChannel()
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        let context = ServiceContext.test()
        let limits = try HTTPLimits().resolved()
        let pipeline = channel.pipeline.syncOperations
        if number > 0 {
            let connections = HTTPConnections(limits: limits, context: context)
            try pipeline.addHandler(try #require(connections.admit(channel, isTLS: false)))
        }
        // The decoder without the encoder, which direct routes need.
        if number > 1 { try pipeline.addHandler(ByteToMessageHandler(HTTPRequestDecoder())) }
        let table = DirectRouteTable(DirectRoutes([]), service: context)
        try pipeline.addHandler(RequestHandler(limits: limits, direct: table, logger: context.logger))
        channel.embeddedEventLoop.run()
        #expect(!channel.isActive)
    }
}
