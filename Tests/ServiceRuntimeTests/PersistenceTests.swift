import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle
import StackKit
import TestSupport
import Testing

@testable import ServiceRuntime

/// The end of a connection that the client asks for, HTTP/1.0, `Expect` and content codings, on real connections.
@Suite("What HTTP clients ask of a connection", .serialized, .timeLimit(.minutes(3)))
struct PersistenceTests {
    private func withServer(_ body: (Int) async throws -> Void) async throws {
        let context = ServiceContext.test()
        let router = makeRouter(of: ServiceRequestContext.self, context: context)
        router.addOperations(readiness: [], context: context)
        router.get("/api/echo/:id") { _, context in "router \(context.parameters.get("id") ?? "")" }
        router.post("/api/echo") { request, _ in
            let body = try await request.wholeBody(
                upTo: 4096,
                onBody: {
                    if request.headers[.contentType] == "a/b" { throw Problem.unsupportedMediaType("Not this.") }
                })
            return "router \(String(buffer: body))"
        }
        router.get("/api/stream") { _, _ in
            Response(
                status: .ok,
                body: ResponseBody { writer in
                    for part in ["one ", "two ", "three"] { try await writer.write(ByteBuffer(string: part)) }
                    try await writer.finish(nil)
                })
        }
        router.post("/api/stream") { request, _ in
            let body = request.body
            return Response(
                status: .ok,
                body: ResponseBody { writer in
                    for try await part in body { try await writer.write(part) }
                    try await writer.finish(nil)
                })
        }
        router.post("/api/refused") { _, _ -> Response in throw Problem.unauthorized("Log in.", challenges: []) }
        let direct = DirectRoute(.get, "/api/echo/:id") { request, reply in
            reply(.success(CompleteResponse(status: .ok, headers: [:], body: ByteBuffer(string: "direct"))))
            return true
        }
        let configuration = HTTPConfiguration(port: 0)
        try await withHTTPService(router, direct: DirectRoutes([direct]), configuration, context) { port, _ in
            try await body(port)
        }
    }

    private func answers(in text: String) -> Int { text.lowercased().components(separatedBy: "http/1.").count - 1 }

    @Test(
        arguments: [
            "Connection: close", "connection: CLOSE", "Connection: Close", "Connection: keep-alive, close",
            "Connection: close ,te\r\nTE: trailers", "Connection: keep-alive\r\nConnection: Close",
        ], ["/api/echo/a", "/api/stream", "/livez", "/api/nothing"])
    func `A connection ends after the request that says so`(_ field: String, _ path: String) async throws {
        try await withServer { port in
            let connection = try RawConnection(port: port)
            connection.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\(field)\r\n\r\nGET /livez HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try await eventually { connection.isClosed })
            let text = connection.text.lowercased()
            #expect(text.contains("\r\nconnection: close\r\n"))
            #expect(answers(in: text) == 1, "what comes after the last request is not answered")
        }
    }

    @Test func `Earlier requests are answered first`() async throws {
        try await withServer { port in
            let connection = try RawConnection(port: port)
            connection.send(
                "GET /api/stream HTTP/1.1\r\nHost: a\r\n\r\nGET /api/nothing HTTP/1.1\r\nHost: a\r\n\r\n"
                    + "GET /api/echo/a HTTP/1.1\r\nHost: a\r\nConnection: x, Close\r\n\r\n")
            #expect(try await eventually { connection.isClosed })
            let text = connection.text.lowercased()
            #expect(answers(in: text) == 3)
            let first = try #require(text.range(of: "connection: close"))
            #expect(text.contains("0\r\n\r\nhttp/1.1 404") && text[first.upperBound...].contains("router a"))
        }
    }

    @Test(arguments: ["keep-alive", "closed", "x-close", "te"])
    func `Other options keep the connection`(_ option: String) async throws {
        try await withServer { port in
            let connection = try RawConnection(port: port)
            for number in 1...3 {
                connection.send("GET /api/nothing HTTP/1.1\r\nHost: a\r\nConnection: \(option)\r\n\r\n")
                #expect(try await eventually { answers(in: connection.text) == number })
            }
            #expect(!connection.isClosed)
        }
    }

    @Test(
        arguments: ["/api/stream", "/api/echo/a", "/livez", "/api/nothing"],
        ["", "Connection: keep-alive\r\n", "Host: a\r\n"])
    func `HTTP10 gets no chunks, and the end of its connection`(_ path: String, _ field: String) async throws {
        try await withServer { port in
            let connection = try RawConnection(port: port)
            connection.send("GET \(path) HTTP/1.0\r\n\(field)\r\n")
            #expect(try await eventually { connection.isClosed })
            let text = connection.text
            #expect(!text.lowercased().contains("transfer-encoding"))
            #expect(text.hasPrefix("HTTP/1.0 ") && text.contains("\r\n\r\n"))
            if path == "/api/stream" { #expect(text.hasSuffix("\r\n\r\none two three")) }
        }
    }

    @Test(arguments: ["/api/echo", "/api/stream"], ["Content-Length: 5", "Transfer-Encoding: chunked"])
    func `The body is asked for when a route reads it`(_ path: String, _ framing: String) async throws {
        try await withServer { port in
            let connection = try RawConnection(port: port)
            connection.send("POST \(path) HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\n\(framing)\r\n\r\n")
            #expect(try await connection.receives("HTTP/1.1 100 Continue\r\n\r\n"))
            connection.send(framing.hasPrefix("C") ? "hello" : "5\r\nhello\r\n0\r\n\r\n")
            #expect(try await connection.receives("hello"))
            #expect(connection.text.hasPrefix("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"))
            #expect(connection.text.components(separatedBy: "100 Continue").count == 2)
        }
    }

    @Test(arguments: [
        ("POST /api/refused HTTP/1.1\r\nContent-Length: 5", " 401 "),
        ("POST /api/nothing HTTP/1.1\r\nContent-Length: 5", " 404 "),
        ("POST /api/echo HTTP/1.1\r\nContent-Length: 5000", " 413 "),
        ("POST /api/echo HTTP/1.1\r\nContent-Length: 5000\r\nContent-Type: a/b", " 413 "),
        ("POST /api/echo HTTP/1.1\r\nContent-Length: 5\r\nContent-Type: a/b", " 415 "),
        ("POST /api/echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Type: a/b", " 415 "),
        ("POST /api/echo HTTP/1.1\r\nContent-Length: 5\r\nContent-Encoding: gzip", " 415 "),
    ])
    func `A refused request is not asked for its body`(_ head: String, _ status: String) async throws {
        try await withServer { port in
            let connection = try RawConnection(port: port)
            connection.send("\(head)\r\nHost: a\r\nExpect: 100-continue\r\n\r\n")
            #expect(try await connection.receives("HTTP/1.1\(status)"))
            #expect(!connection.text.contains("100 Continue"))
        }
    }

    @Test func `An expectation of HTTP10 is ignored`() async throws {
        try await withServer { port in
            let connection = try RawConnection(port: port)
            connection.send("POST /api/echo HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello")
            #expect(try await connection.receives("router hello"))
            #expect(!connection.text.contains("100 Continue"))
        }
    }

    @Test(arguments: [
        "Content-Encoding: gzip", "content-encoding: GZIP", "Content-Encoding: deflate", "Content-Encoding: br",
        "Content-Encoding: identity, zstd", "Content-Encoding: identity\r\nContent-Encoding: gzip",
        "Transfer-Encoding: gzip, chunked",
    ])
    func `A compressed body is refused`(_ field: String) async throws {
        try await withServer { port in
            let connection = try RawConnection(port: port)
            let isChunked = field.hasPrefix("T")
            connection.send(
                "POST /api/echo HTTP/1.1\r\nHost: a\r\n\(field)\r\n\(isChunked ? "" : "Content-Length: 5\r\n")\r\n"
                    + (isChunked ? "5\r\nhello\r\n0\r\n\r\n" : "hello"))
            #expect(try await connection.receives("HTTP/1.1 415 "))
            #expect(connection.text.lowercased().contains("\r\naccept-encoding: identity\r\n"))
        }
    }

    @Test(arguments: ["identity", "IDENTITY", ""])
    func `An uncompressed body is taken`(_ coding: String) async throws {
        try await withServer { port in
            let connection = try RawConnection(port: port)
            connection.send(
                "POST /api/echo HTTP/1.1\r\nHost: a\r\nContent-Encoding: \(coding)\r\nContent-Length: 5\r\n\r\nhello")
            #expect(try await connection.receives("router hello"))
        }
    }
}
