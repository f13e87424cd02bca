import Foundation
import Testing

@testable import SecurePushClient

/// The real transport against a real server on this machine.
@Suite(.timeLimit(.minutes(10)), .serialized) struct URLSessionTransportTests {
    private let transport = URLSessionTransport()

    private func get(
        _ path: String, of server: LoopbackServer, timeout: TimeInterval = 8, maxBytes: Int = 1 << 20
    ) async throws -> TransportResponse {
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)\(path)"))
        return try await transport.send(
            TransportRequest(method: "GET", url: url, headers: ["Authorization": "Bearer t"]), timeout: timeout,
            maxBytes: maxBytes)
    }

    @Test func aResponseHasStatusHeadersAndBody() async throws {
        let server = try LoopbackServer { _ in
            LoopbackServer.response(
                "429 Too Many Requests", ["Retry-After: 7", "Set-Cookie: a=b"], body: Data("x".utf8))
        }
        let response = try await get("/a", of: server)
        #expect(response.status == 429 && response.headers["retry-after"] == "7" && response.body == Data("x".utf8))
        _ = try await get("/a", of: server)
        #expect(server.requests.count == 2)
        #expect(server.requests.allSatisfy { $0.contains("Authorization: Bearer t") && !$0.contains("Cookie") })
    }

    @Test(arguments: ["301 Moved", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"])
    func redirectsAreNotFollowed(_ status: String) async throws {
        let server = try LoopbackServer { _ in LoopbackServer.response(status, ["Location: /other"]) }
        #expect(try await get("/a", of: server).status == Int(status.prefix(3)))
        #expect(server.requests.count == 1)
    }

    @Test func aLongBodyIsCutOff() async throws {
        let piece = Data(repeating: UInt8(ascii: "x"), count: 64 << 10)
        let server = try LoopbackServer { path in
            let length = path == "/announced" ? "Content-Length: 10485760" : "Connection: close"
            return [Data("HTTP/1.1 200 OK\r\n\(length)\r\n\r\n".utf8)] + Array(repeating: piece, count: 160)
        }
        for path in ["/announced", "/unannounced"] {
            await #expect(throws: TransportError.tooLarge) { try await get(path, of: server) }
        }
        #expect(try await get("/unannounced", of: server, maxBytes: 11 << 20).body.count == 10 << 20)
    }

    @Test func unauthorizedIsAResponseLikeOthers() async throws {
        let server = try LoopbackServer { _ in
            LoopbackServer.response(
                "401 Unauthorized",
                ["WWW-Authenticate: Basic realm=\"a\", Bearer", "Content-Type: application/problem+json"])
        }
        let response = try await get("/a", of: server)
        #expect(response.status == 401 && response.isOwnUnauthorized)
        #expect(response.headers["content-type"] == "application/problem+json")
        #expect(server.requests.count == 1)
    }

    @Test func nothingListensOrAnswers() async throws {
        let silent = try LoopbackServer { _ in nil }
        await #expect(throws: TransportError.timedOut) { try await get("/a", of: silent, timeout: 1) }
        let broken = try LoopbackServer { _ in [Data("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc".utf8)] }
        await #expect(throws: TransportError.unreachable) { try await get("/a", of: broken) }
        let url = try #require(URL(string: "http://127.0.0.1:1/"))
        await #expect(throws: TransportError.unreachable) {
            try await transport.send(TransportRequest(method: "GET", url: url), timeout: 8, maxBytes: 1)
        }
    }

    /// Each byte begins the limit of `URLRequest` anew.
    @Test func aServerThatSendsAByteNowAndThenIsCutOff() async throws {
        let server = try LoopbackServer(pause: 0.2) { _ in
            [Data("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n".utf8)] + Array(repeating: Data("x".utf8), count: 100)
        }
        // The whole answer would take 20 s, and come.
        await #expect(throws: TransportError.timedOut) { try await get("/a", of: server, timeout: 1) }
    }

    @Test func aCancelledRequestEnds() async throws {
        let server = try LoopbackServer { _ in nil }
        let task = Task { try await get("/a", of: server, timeout: 60) }
        while server.requests.isEmpty { await Task.yield() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
