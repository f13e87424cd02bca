import APITestSupport
import Domain
import Foundations
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Testing

@testable import Ingest

@Suite("POST /api/notifications, refused", .bothWays)
struct RefusedNotificationTests {
    private static let good = #"{"Recipient":"alice","Payload":1}"#

    @Test(arguments: [
        "Content-Length: 60\r\n\r\n", "Content-Length: 60\r\n\r\n{", "Content-Length: 2000000\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
        "Content-Type: application/json\r\nIdempotency-Key: a\r\nContent-Length: 1\r\n\r\n",
    ])
    func `A user's body is refused before it has come`(rest: String) async throws {
        try await withIngest(server: .live) { bench in
            try await RawConnection.with(port: bench.client.port) { connection in
                let credentials = "Authorization: \(bench.credentials.basic)"
                try await connection.write("POST /api/notifications HTTP/1.1\r\nHost: a\r\n\(credentials)\r\n\(rest)")
                #expect(try await connection.read(until: "with an empty body").hasPrefix("HTTP/1.1 403 "))
            }
            #expect(try await bench.store.backlog(now: .now).count == 0)
        }
    }

    @Test(arguments: ["", "Bearer", "Bearer spk_wrong", "Bearer a.b.c", "Basic YWxpY2U6d3Jvbmc=", "Digest x"])
    func `Unknown callers are 401`(_ authorization: String) async throws {
        try await withIngest { bench in
            let answer = try await bench.post(Self.good, authorization: authorization)
            try answer.expectProblem(401)
            #expect(!answer.headers[values: .wwwAuthenticate].isEmpty)
            #expect(try await bench.store.backlog(now: .now).count == 0)
        }
    }

    @Test func `A wrong key is called a key`() async throws {
        try await withIngest { bench in
            let answer = try await bench.post(Self.good, authorization: "Bearer spk_wrong")
            try answer.expectProblem(401)
            #expect(String(buffer: answer.body).contains("The API key is not known."))
        }
    }

    /// An app that sends its provider's token learns from the answer why it is refused.
    @Test func `A wrong token is called a token`() async throws {
        try await withIngest { bench in
            let parts = [#"{"alg":"ES256"}"#, #"{"exp":1}"#, "a"].map { Base64.encode(Array($0.utf8), .url) }
            let answer = try await bench.post(Self.good, authorization: "Bearer " + parts.joined(separator: "."))
            try answer.expectProblem(401)
            #expect(String(buffer: answer.body).contains("The token does not name a user."))
        }
    }

    @Test func `Without credentials both schemes are offered`() async throws {
        try await withIngest { bench in
            let answer = try await bench.client.execute(uri: "/api/notifications", method: .post)
            try answer.expectProblem(401)
            let schemes = answer.headers[values: .wwwAuthenticate].map { $0.prefix { $0 != " " } }
            #expect(schemes == ["Bearer", "Basic"])
        }
    }

    @Test func `Users are unknown where none are configured`() async throws {
        try await withIngest(hasUsers: false) { bench in
            for authorization in [bench.credentials.basic, bench.credentials.bearer] {
                let answer = try await bench.post("", authorization: authorization)
                try answer.expectProblem(401)
                let challenges = answer.headers[values: .wwwAuthenticate]
                #expect(!challenges.isEmpty && challenges.allSatisfy { $0.hasPrefix("Bearer ") })
            }
        }
    }

    @Test func `A user may send nothing else`() async throws {
        try await withIngest { bench in
            for authorization in [bench.credentials.basic, bench.credentials.bearer] {
                try (try await bench.post(Self.good, authorization: authorization)).expectProblem(403)
            }
            #expect(try await bench.store.backlog(now: .now).count == 0)
        }
    }

    @Test(arguments: ["text/plain", "application/xml", "application/json; charset=latin1", "application/jsonx", nil])
    func `Other media types are 415`(_ contentType: String?) async throws {
        try await withIngest { bench in
            try (try await bench.post(Self.good, contentType: contentType)).expectProblem(415)
        }
    }

    /// Nor is the body asked for.
    @Test(arguments: ["Content-Length: 100", "Transfer-Encoding: chunked"])
    func `Another media type is refused before the body has come`(framing: String) async throws {
        try await withIngest(server: .live) { bench in
            try await RawConnection.with(port: bench.client.port) { connection in
                let fields = "Authorization: \(bench.credentials.sender)\r\nContent-Type: text/plain\r\n\(framing)"
                try await connection.write(
                    "POST /api/notifications HTTP/1.1\r\nHost: a\r\n\(fields)\r\nExpect: 100-continue\r\n\r\n")
                #expect(try await connection.read(until: "\r\n").hasPrefix("HTTP/1.1 415 "))
            }
        }
    }

    @Test func `An empty body is 400 whatever its type would be`() async throws {
        try await withIngest { bench in
            for type in [nil, "text/plain"] {
                try (try await bench.post("", contentType: type)).expectProblem(400)
            }
        }
    }

    @Test(arguments: [
        (#"{}"#, ["/Payload", "/Recipient"]), (#"[]"#, [""]),
        (#"{"Recipient":"a","Recipients":["b"],"Payload":1}"#, ["/Recipient", "/Recipients"]),
        (#"{"Recipients":["a","","b\u0007"],"Payload":1}"#, ["/Recipients/1", "/Recipients/2"]),
        (#"{"recipient":"a","payload":1,"platforms":["nokia"],"Secret":1}"#, ["/Platforms/0", "/Secret"]),
        (#"{"Recipient":"a","Payload":1,"PAYLOAD":2}"#, ["/Payload"]),
        (
            #"{"Recipient":"a","Payload":1,"ExpiresAt":"2001-01-01T00:00:00Z","CollapseKey":7}"#,
            ["/CollapseKey", "/ExpiresAt"]
        ),
    ])
    func `Every offending member is named in 422`(_ body: String, _ pointers: [String]) async throws {
        try await withIngest { bench in
            let answer = try await bench.post(body)
            try answer.expectProblem(422)
            #expect(try answer.pointers() == pointers)
            #expect(try await bench.store.backlog(now: .now).count == 0)
        }
    }

    @Test(arguments: [
        #"{"Title":"a\u0007b"}"#, #"{"Title":"a\u0000"}"#, #"{"Title":"two\nlines"}"#, #"{"Title":"\u007f"}"#,
        #"{"Title":"\u0085"}"#,
    ])
    func `An alert with control characters is 422`(_ alert: String) async throws {
        try await withIngest { bench in
            let answer = try await bench.post(#"{"Recipient":"a","Payload":1,"Alert":\#(alert)}"#)
            try answer.expectProblem(422)
            #expect(try answer.pointers() == ["/Alert/Title"])
        }
    }

    /// APNs takes 4,096 bytes, and a quotation mark is two in JSON.
    @Test func `An alert that Apple would refuse is 422`() async throws {
        let marks = { @Sendable (count: Int) in String(repeating: #"\""#, count: count) }
        try await withIngest { bench in
            let body = { (title: Int) in
                #"{"Recipient":"a","Payload":1,"Alert":{"Title":"\#(marks(title))","Body":"\#(marks(1024))"}}"#
            }
            let answer = try await bench.post(body(1024))
            try answer.expectProblem(422)
            #expect(try answer.pointers() == ["/Alert"])
            #expect(try await bench.post(body(900)).status == .created)
        }
    }

    @Test func `A store that is away is 503`() async throws {
        try await withIngest(writer: FakeWriter(failure: StorageError(.unavailable, "away for the test"))) { bench in
            let answer = try await bench.post(Self.good)
            try answer.expectProblem(503)
            #expect(answer.headers[.retryAfter].flatMap { Int($0) } ?? 0 >= 1)
            #expect(!answer.text.contains("away for the test"))
        }
    }
}
