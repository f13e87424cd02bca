import Foundation
import Hummingbird
import NIOCore
import TestSupport
import Testing

@testable import ServiceRuntime

@Suite("Limits and deadlines of connections", .serialized, .timeLimit(.minutes(5)))
struct HTTPLimitsTests {
    // MARK: Numbers

    @Test func `An idle connection makes room for a new one`() async throws {
        try await withLimitedServer({
            $0.maxConnections = 3
            $0.maxConnectionsPerAddress = 0
        }) { server in
            // One after another: which is the oldest must be known.
            var silent: [RawConnection] = []
            for number in 1...3 {
                silent.append(try server.connect())
                try await server.expectConnections(number)
            }
            let (first, others) = (silent[0], silent[1...])
            let next = try server.connect()
            next.send("GET /version HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try await next.receives("200 OK"))
            try await expectEventually { first.isClosed }
            #expect(others.allSatisfy { !$0.isClosed })
            #expect(server.closed(.evicted) == 1)
        }
    }

    @Test func `Where all are busy operators are still answered`() async throws {
        let (released, release) = AsyncStream.makeStream(of: Void.self)
        try await withLimitedServer(
            {
                $0.maxConnections = 2
                $0.maxConnectionsPerAddress = 0
            },
            routes: { router in
                router.get("/slow") { _, _ in
                    for await _ in released {}
                    return "done"
                }
            },
            { server in
                let busy = try (0..<2).map { _ in try server.connect() }
                for connection in busy { connection.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n") }
                try await expectEventually { server.context.requests.current == 2 }
                for path in ["/livez", "/readyz", "/metrics"] {
                    let operatorsOwn = try server.connect()
                    operatorsOwn.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
                    #expect(try await operatorsOwn.receives("200 OK"))
                }
                let refused = try server.connect()
                refused.send("POST /collected HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n12345")
                #expect(try await refused.receives("The limit of connections is reached."))
                #expect(refused.text.hasPrefix("HTTP/1.1 503 "))
                #expect(refused.text.lowercased().contains("\r\nretry-after: 1\r\n"))
                try await expectEventually { refused.isClosed }
                release.finish()
                for connection in busy { #expect(try await connection.receives("done")) }
            })
    }

    @Test func `One address has its share`() async throws {
        try await withLimitedServer({
            $0.maxConnections = 10
            $0.maxConnectionsPerAddress = 2
        }) { server in
            let first = try server.connect()
            try await server.expectConnections(1)
            let second = try server.connect()
            try await server.expectConnections(2)
            let more = [second, try server.connect()]
            try await expectEventually { first.isClosed }
            #expect(!more[0].isClosed && !more[1].isClosed)
            #expect(server.closed(.evicted) == 1)
        }
    }

    // MARK: Deadlines

    @Test func `A connection without a request is closed`() async throws {
        try await withLimitedServer({ $0.idleTimeout = .seconds(2) }) { server in
            let silent = try server.connect()
            let used = try server.connect()
            used.send("GET /livez HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try await used.receives("alive"))
            try await expectEventually { silent.isClosed && used.isClosed }
            #expect(server.closed(.idle) == 2)
        }
    }

    @Test func `A dripped head is closed`() async throws {
        try await withLimitedServer({ $0.headerTimeout = .milliseconds(300) }) { server in
            let connection = try server.connect()
            connection.send("GET /livez HTTP/1.1\r\nHost: a\r\nX: ")
            try await expectEventually {
                connection.send("x")
                return connection.isClosed
            }
            #expect(server.closed(.header) == 1)
        }
    }

    @Test func `A request after another has its own deadline`() async throws {
        try await withLimitedServer({ $0.headerTimeout = .seconds(5) }) { server in
            let connection = try server.connect()
            // Together longer than the limit of one head; each with time to spare.
            for _ in 0..<5 {
                connection.send("GET /livez HTTP/1.1\r\n")
                try await Task.sleep(for: .milliseconds(1300))
                connection.send("Host: a\r\n\r\n")
            }
            try await expectEventually { connection.text.components(separatedBy: "alive").count == 6 }
            #expect(server.closed(.header) == 0)
        }
    }

    @Test func `A silent TLS client and a dripping one are closed`() async throws {
        try await withLimitedServer(isTLS: true, { $0.handshakeTimeout = .milliseconds(300) }) { server in
            let silent = try server.connect()
            let dripping = try server.connect()
            dripping.send("\u{16}\u{03}\u{01}\u{02}")
            try await expectEventually {
                dripping.send("\u{00}")
                return silent.isClosed && dripping.isClosed
            }
            #expect(server.closed(.handshake) >= 1)
        }
    }

    @Test func `An HTTP2 client without a stream is closed`() async throws {
        try await withLimitedServer(
            isTLS: true,
            {
                $0.idleTimeout = .milliseconds(200)
                $0.goAwayGrace = .milliseconds(200)
            }
        ) { server in
            // It says nothing after the handshake, and does not answer the server's GOAWAY and PING.
            _ = try? await Curl.openssl(
                "s_client", "-quiet", "-alpn", "h2", "-connect", "127.0.0.1:\(server.port)")
            #expect(server.closed(.idle) == 1)
        }
    }

    @Test func `A body that stops is closed`() async throws {
        try await withLimitedServer({ $0.bodyTimeout = .milliseconds(300) }) { server in
            let stopped = try server.connect()
            stopped.send("POST /collected HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n12")
            // A chunk's size, drop by drop, brings nothing of the body.
            let dripping = try server.connect()
            dripping.send("POST /collected HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n12\r\n")
            try await expectEventually {
                dripping.send("0")
                return stopped.isClosed && dripping.isClosed
            }
            #expect(server.closed(.body) == 2)
        }
    }

    @Test func `A service that reads late is not the client's fault`() async throws {
        let size = 4 << 20
        try await withLimitedServer(
            { $0.bodyTimeout = .seconds(3) },
            routes: { router in
                router.post("/late") { request, _ in
                    try await Task.sleep(for: .seconds(5))
                    return "\(try await request.body.collect(upTo: 1 << 24).readableBytes) bytes"
                }
            },
            { server in
                let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/late"))
                try await withTemporaryFolderURL { folder in
                    let file = folder.appending(path: "body")
                    try Data(count: size).write(to: file)
                    let answer = try await Curl.get(url, "-H", "Expect:", "--data-binary", "@\(file.path)")
                    #expect(answer.contains("\(size) bytes"))
                }
                #expect(server.closed(.body) == 0)
            })
    }

    @Test func `The body of a refused request has a deadline and a limit`() async throws {
        try await withLimitedServer({
            $0.drainTimeout = .milliseconds(300)
            $0.maxDrainedBytes = 100_000
        }) { server in
            let dripping = try server.connect()
            dripping.send("POST /refused HTTP/1.1\r\nHost: a\r\nContent-Length: 90000\r\n\r\n")
            #expect(try await dripping.receives("401"))
            try await expectEventually {
                dripping.send("x")
                return dripping.isClosed
            }
            #expect(server.closed(.drain) == 1)
            // So much is announced that the connection is not to be used again.
            let announced = try server.connect()
            announced.send("POST /refused HTTP/1.1\r\nHost: a\r\nContent-Length: 900000\r\n\r\n")
            #expect(try await announced.receives("401"))
            #expect(announced.text.lowercased().contains("\r\nconnection: close\r\n"))
            let endless = try server.connect()
            endless.send("POST /refused HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
            try await expectEventually {
                endless.send("1000\r\n" + String(repeating: "x", count: 4096) + "\r\n")
                return endless.isClosed
            }
        }
    }

    @Test func `A short refused body keeps its connection`() async throws {
        try await withLimitedServer({ _ in }) { server in
            let connection = try server.connect()
            connection.send("POST /refused HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n12")
            #expect(try await connection.receives("401"))
            connection.send("345GET /livez HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try await connection.receives("alive"))
            #expect(!connection.isClosed)
        }
    }

    @Test func `A client that takes nothing of its answer is closed`() async throws {
        try await withLimitedServer(
            { $0.idleTimeout = .milliseconds(200) },
            routes: { router in
                router.get("/large") { _, _ in
                    Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(repeating: 0x78, count: 64 << 20)))
                }
            },
            { server in
                let connection = try server.connect()
                connection.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
                try await expectEventually { server.closed(.write) == 1 }
            })
    }

    // MARK: What never reaches the routes

    @Test(arguments: [
        ("GET /livez HTTP/1.1\r\n\r\n", "400 ", "exactly one valid Host"),
        ("GET /livez HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", "400 ", "exactly one valid Host"),
        ("GET /livez HTTP/1.1\r\nHost: a b\r\n\r\n", "400 ", "exactly one valid Host"),
        ("GET /livez HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", "400 ", "exactly one valid Host"),
        ("BREW /livez HTTP/1.1\r\nHost: a\r\n\r\n", "501 ", "does not implement the method"),
        ("PROPFIND /livez HTTP/1.1\r\nHost: a\r\n\r\n", "501 ", "does not implement the method"),
        ("TRACE /livez HTTP/1.1\r\nHost: a\r\n\r\n", "405 ", "This path takes GET, HEAD."),
        ("GET /livez HTTP/1.1\r\nHost: a\r\nno field\r\n\r\n", "400 ", "not valid HTTP"),
        ("GET /livez HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "x", count: 70_000))\r\n\r\n", "431 ", "too large"),
    ])
    func `Refusals are problems`(request: String, status: String, detail: String) async throws {
        try await withLimitedServer({ _ in }) { server in
            let connection = try server.connect()
            connection.send(request)
            #expect(try await connection.receives(detail), "\(connection.text)")
            #expect(connection.text.hasPrefix("HTTP/1.1 \(status)"))
            #expect(connection.text.lowercased().contains("content-type: application/problem+json"))
            if !status.hasPrefix("405"), !request.hasPrefix("PROPFIND") {
                try await expectEventually { connection.isClosed }
            }
        }
    }

    @Test(arguments: [
        "GET /livez HTTP/1.0\r\n\r\n", "GET /livez HTTP/1.1\r\nHost:\r\n\r\n",
        "GET /livez HTTP/1.1\r\nhost: [::1]:80\r\n\r\n",
    ])
    func `These hosts are valid`(request: String) async throws {
        try await withLimitedServer({ _ in }) { server in
            let connection = try server.connect()
            connection.send(request)
            #expect(try await connection.receives("alive"))
        }
    }

    @Test(arguments: ["--http1.1", "--http2"])
    func `An error to head keeps the connection`(version: String) async throws {
        try await withLimitedServer(isTLS: true, { _ in }) { server in
            let url = "https://127.0.0.1:\(server.port)"
            let first = try #require(URL(string: "\(url)/livez"))
            let answers = try await Curl.get(
                first, version, "--head", "-w", "connections=%{num_connects}\n", "\(url)/nowhere", "\(url)/refused")
            #expect(answers.contains(" 404") && answers.contains(" 405") && answers.contains(" 200"))
            #expect(answers.components(separatedBy: "connections=0").count == 3, "\(answers)")
            #expect(!answers.contains("about:blank"))
        }
    }
}
