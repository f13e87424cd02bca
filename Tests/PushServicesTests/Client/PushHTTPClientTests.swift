import Foundations
import Logging
import StackKit
import TestSupport
import Testing

@testable import PushServices

/// The client with several origins, and what it refuses to write.
@Suite(.timeLimit(.minutes(5))) struct PushHTTPClientTests {
    @Test func `The origin that was used least recently gives way`() async throws {
        try await withHTTP2(
            { $0.origins = 1 },
            answering: { request in
                request.path == "/held" ? [] : [.answer(201)]
            }
        ) { server, client in
            #expect(await client.post(port: server.port).status == 201)
            #expect(await client.post(host: "other.test", port: server.port).status == 201)
            try await expectEventually { server.openConnections == 1 }
            #expect(server.connections == 2)
            async let held = client.post("/held", host: "other.test", port: server.port)
            try await expectEventually { server.requests.count == 3 }
            let result = await client.post(port: server.port)
            #expect(result.failure == .notSent(reason: "too many origins are in use"))
            server.answer(server.requests[2])
            #expect(await held.status == 201)
        }
    }

    @Test func `A connection without requests is closed`() async throws {
        try await withHTTP2({ $0.idleTimeout = .milliseconds(50) }, answering: { _ in [.answer(201)] }) {
            server, client in
            #expect(await client.post(port: server.port).status == 201)
            try await expectEventually { server.openConnections == 0 }
            #expect(await client.post(port: server.port).status == 201)
            #expect(server.connections == 2)
        }
    }

    @Test func `Two clients do not share connections`() async throws {
        try await PushCertificate.with { certificate in
            try await FakeHTTP2Server.with(certificate, { _ in [.answer(201)] }) { server in
                try await withPushClient(certificate) { first in
                    try await withPushClient(certificate) { second in
                        for client in [first, second] { #expect(await client.post(port: server.port).status == 201) }
                    }
                    #expect(await first.post(port: server.port).status == 201)
                }
                #expect(server.connections == 2)
            }
        }
    }

    @Test func `Closing twice, and without a connection`() async throws {
        try await PushCertificate.with { certificate in
            try await withPushClient(certificate) { client in
                await client.close(deadline: .now + .seconds(60))
                await client.close(deadline: .now)
                #expect(await client.post(port: 1).failure == .notSent(reason: "the client is closing"))
            }
        }
    }
}

@Suite struct PushHTTPRequestTests {
    private func problem(
        host: String = pushHost, port: Int = 443, path: String = "/a", _ fields: PushHTTPField...
    ) -> String? {
        PushHTTPRequest(origin: PushOrigin(host: host, port: port), path: path, headers: fields, body: []).problem
    }

    @Test func `What cannot be written`() {
        #expect(problem(PushHTTPField("ttl", "60"), PushHTTPField("x-y", "a\tb é")) == nil)
        for host in ["", "a b", "a/b", "a\r\nb", "user@a"] {
            #expect(problem(host: host) == "the origin is not valid")
        }
        for port in [0, -1, 65_536] { #expect(problem(port: port) == "the origin is not valid") }
        for path in ["", "a", "/a b", "/a\r\nHost: b", "/é"] { #expect(problem(path: path) == "the path is not valid") }
        for name in ["", "TTL", "a b", ":path", "content-length", "host", "transfer-encoding", "connection"] {
            #expect(problem(PushHTTPField(name, "x")) == "the name of a header is not valid", "\(name)")
        }
        for value in ["a\r\nb: c", "a\nb", "a\0b", " a", "a ", "\u{7F}"] {
            #expect(problem(PushHTTPField("x", value)) == "the value of a header is not valid")
        }
        let large = PushHTTPField("x", String(repeating: "x", count: 9000))
        #expect(problem(large) == nil)
        #expect(problem(large, large) == "the headers are too large")
    }

    @Test func `A request that cannot be written is not sent`() async throws {
        try await withHTTP2(answering: { _ in [.answer(201)] }) { server, client in
            let result = await client.post("nothing", port: server.port)
            #expect(result.failure == .notSent(reason: "the path is not valid"))
            #expect(server.connections == 0)
        }
    }
}
