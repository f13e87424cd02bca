import Foundations
import StackKit
import TestSupport
import Testing

@testable import PushServices

/// Connections of HTTP/1.1.
@Suite(.timeLimit(.minutes(5))) struct PushHTTP1Tests {
    private static let created = "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"

    @Test(arguments: [["http/1.1"], []])
    func `A request and its answer, and the connection again`(protocols: [String]) async throws {
        try await withHTTP1(
            protocols: protocols,
            answering: { _ in
                [.write("HTTP/1.1 201 Created\r\nContent-Length: 5\r\nTTL: 60\r\n\r\nhello")]
            }
        ) { server, client in
            for _ in 0..<2 {
                let response = try await client.post(
                    "/push?a=b", port: server.port, headers: [PushHTTPField("ttl", "60")]
                ).get()
                #expect(response.status == 201 && response["ttl"] == "60" && response.body == Array("hello".utf8))
            }
            let text =
                "POST /push?a=b HTTP/1.1\r\nhost: push.test:\(server.port)\r\nttl: 60\r\ncontent-length: 4\r\n\r\nbody"
            #expect(server.requests.map(\.text) == [text, text])
            #expect(server.connections == 1)
        }
    }

    @Test func `HTTP1 alone is offered if wanted`() async throws {
        try await withHTTP1(
            protocols: ["h2", "http/1.1"], { $0.versions = .http1 },
            answering: { _ in
                [.write(Self.created)]
            }
        ) { server, client in
            #expect(await client.post(port: server.port).status == 201)
        }
    }

    @Test func `Each request in flight has a connection, up to the limit`() async throws {
        try await withHTTP1({ $0.connectionsPerOrigin = 2 }, answering: { _ in [] }) { server, client in
            try await withThrowingDiscardingTaskGroup { group in
                for _ in 0..<4 { group.addTask { #expect(await client.post(port: server.port).status == 201) } }
                for round in 1...2 {
                    try await expectEventually { server.requests.count == 2 * round }
                    for connection in 0..<2 { server.write(Self.created, connection: connection) }
                }
            }
            #expect(server.connections == 2)
        }
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n", 200, "abc", 1),
        ("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n", 201, "", 1),
        ("HTTP/1.1 302 Found\r\nLocation: https://push.test:1/\r\nContent-Length: 0\r\n\r\n", 302, "", 1),
        ("HTTP/1.1 429 Slow\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx", 429, "x", 2),
    ])
    func `Answers in all forms`(text: String, status: Int, body: String, connections: Int) async throws {
        try await withHTTP1(answering: { _ in [.write(text)] }) { server, client in
            for _ in 0..<2 {
                let response = try await client.post(port: server.port).get()
                #expect(response.status == status && response.body == Array(body.utf8))
                #expect(response["link"] == nil)
            }
            #expect(server.connections == connections && server.requests.count == 2)
        }
    }

    @Test(arguments: [
        "HTTP/1.1 410 Gone\r\n\r\npart", "HTTP/1.1 410 Gone\r\nContent-Length: 9\r\n\r\npart",
        "HTTP/1.1 410 Gone\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n",
    ])
    func `An answer that the end of the connection cuts counts`(text: String) async throws {
        try await withHTTP1(answering: { _ in [.write(text), .close] }) { server, client in
            let response = try await client.post(port: server.port).get()
            #expect(response.status == 410 && response.body == Array("part".utf8))
        }
    }

    @Test(arguments: ["", "HTTP/1.1 200 OK\r\nContent-Le", "SSH-2.0-OpenSSH_9.2\r\n\r\n"])
    func `No answer leaves the push in doubt`(text: String) async throws {
        try await withHTTP1(answering: { _ in [.write(text), .close] }) { server, client in
            #expect(await client.post(port: server.port).isUnanswered)
            #expect(server.requests.count == 1)
        }
    }

    @Test func `Of 10 MB at most 64 KiB are read`() async throws {
        let body = String(repeating: "7", count: 10_000_000)
        try await withHTTP1(answering: { _ in
            [.write("HTTP/1.1 200 OK\r\nContent-Length: 10000000\r\n\r\n" + body)]
        }) { server, client in
            let response = try await client.post(port: server.port).get()
            #expect(response.status == 200 && response.body.count == 65_536)
            try await expectEventually { server.openConnections == 0 }
        }
    }

    @Test func `A flood of header fields ends the connection`() async throws {
        let fields = String(repeating: "X-Flood: \(String(repeating: "x", count: 1000))\r\n", count: 100)
        try await withHTTP1(answering: { _ in [.write("HTTP/1.1 200 OK\r\n" + fields + "\r\n")] }) { server, client in
            #expect(await client.post(port: server.port).isUnanswered)
        }
    }

    @Test func `A body that never ends counts as far as it came`() async throws {
        try await withHTTP1(answering: { request in
            [.write(request.text.contains("/first") ? Self.created : "HTTP/1.1 410 Gone\r\n\r\npart")]
        }) { server, client in
            // The time until the deadline is not for connecting.
            #expect(await client.post("/first", port: server.port).status == 201)
            let response = try await client.post(port: server.port, within: .seconds(10)).get()
            #expect(response.status == 410 && response.body == Array("part".utf8))
            try await expectEventually { server.openConnections == 0 }
        }
    }

    @Test func `Cancellation closes the connection`() async throws {
        try await withHTTP1(answering: { _ in [] }) { server, client in
            let port = server.port
            let task = Task { await client.post(port: port) }
            try await expectEventually { server.requests.count == 1 }
            task.cancel()
            #expect(await task.value.failure == .unanswered(reason: "cancelled"))
            try await expectEventually { server.openConnections == 0 }
        }
    }

    @Test func `A connection without requests is closed`() async throws {
        try await withHTTP1({ $0.idleTimeout = .milliseconds(50) }, answering: { _ in [.write(Self.created)] }) {
            server, client in
            #expect(await client.post(port: server.port).status == 201)
            try await expectEventually { server.openConnections == 0 }
            #expect(await client.post(port: server.port).status == 201)
        }
    }
}
