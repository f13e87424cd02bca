import Testing

@testable import PushServices

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
