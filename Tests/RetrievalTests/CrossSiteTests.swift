import APITestSupport
import Domain
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import ServiceConfiguration
import ServiceRuntime
import Testing

@testable import Retrieval

/// Requests that a page causes in a browser that knows a user's password.
@Suite("Basic credentials and pages of other sites")
struct CrossSiteTests {
    private static func fields(_ origin: String?, _ site: String?) -> HTTPFields {
        var fields: HTTPFields = [:]
        if let origin { fields[.origin] = origin }
        if let site { fields[.secFetchSite] = site }
        return fields
    }

    /// `Origin` and `Sec-Fetch-Site` of a page of another site.
    static let foreign: [(String?, String?)] = [
        ("https://evil.example", "cross-site"), ("https://evil.example", nil), (nil, "cross-site"), ("null", nil),
        ("null", "cross-site"), ("https://other.example.org", "same-site"), ("https://localhost.evil", nil),
        ("https://localhost:8443", nil), ("https://evil.example, https://localhost", nil), ("", nil),
        ("localhost", nil), ("https://localhost@evil.example", nil), ("https://evil.example", "x"),
        ("http://localhost:443", nil), ("https://localhost", "cross-site"), ("null", "same-site"),
        ("https://evil.example", "none"), ("null", "none"),
    ]

    /// Those of clients that are no browsers, of our own pages, and of a person.
    static let own: [(String?, String?)] = [
        (nil, nil), ("https://localhost", nil), ("http://localhost", nil),
        ("https://LOCALHOST:443", nil), ("https://localhost", "same-origin"), (nil, "same-origin"),
        (nil, "none"), ("null", "same-origin"), ("https://public.example.org", "same-origin"),
        ("https://localhost", "same-site"), ("http://localhost:80", nil), (nil, "same-site"),
    ]

    /// What changes something, and the status of a request of a user.
    private static let changes: [(HTTPRequest.Method, String)] = [
        (.post, "/api/register?handle=H1"), (.post, "/api/register"), (.delete, "/api/devices"), (.post, "/api/token"),
        (.post, "/api/notifications/read"), (.put, "/api/installations/phone"), (.delete, "/api/installations/phone"),
        (.post, "/api/notifications/01890000-0000-7000-8000-000000000000/shown"), (.delete, "/api/token"),
        (.put, "/api/devices/phone/key"), (.post, "//api/register"), (.post, "/api/nothing"),
        (.get, "/api/notifications/01890000-0000-7000-8000-000000000000"), (.get, "/api/notifications?include=payload"),
        (.get, "/api/notifications?Limit=1&%69nclude=p%61yload"),
    ]

    private static func status(
        _ bench: RetrievalBench, _ request: (HTTPRequest.Method, String), _ fields: HTTPFields,
        by authorization: String?
    ) async throws -> TestResponse {
        var headers = fields
        headers[.authorization] = authorization
        headers[.contentType] = "application/x-www-form-urlencoded"
        return try await bench.client.execute(
            uri: request.1, method: request.0, headers: headers, body: ByteBuffer(string: ""))
    }

    @Test(arguments: foreign.indices) func `Pages of other sites change nothing`(_ index: Int) async throws {
        try await withRetrieval(refreshTTL: .seconds(60)) { bench in
            let fields = Self.fields(Self.foreign[index].0, Self.foreign[index].1)
            let id = try await bench.accept("1")
            for request in Self.changes + [(.get, "/api/notifications/\(id)")] {
                for scheme in [bench.basic(), bench.basic().replacing("Basic ", with: "bAsIc  ")] {
                    let answer = try await Self.status(bench, request, fields, by: scheme)
                    try answer.expectProblem(403)
                }
            }
            #expect(try await bench.store.find(id, recipient: UserName("alice")!)?.readAt == nil)
            // A page cannot send a token that it does not have, so tokens are for web apps of any origin.
            let read = try await Self.status(
                bench, (.get, "/api/notifications/\(id)"), fields, by: try bench.token())
            #expect(read.status == .ok)
            // What changes nothing, and what has no credentials, is answered as before.
            for path in ["/api/notifications", "/api/notifications?Limit=1", "/api/installations"] {
                #expect(try await Self.status(bench, (.get, path), fields, by: bench.basic()).status == .ok, "\(path)")
            }
            try (try await Self.status(bench, (.post, "/api/register"), fields, by: nil)).expectProblem(401)
        }
    }

    @Test(arguments: own.indices) func `Clients, own pages and people are served`(_ index: Int) async throws {
        try await withRetrieval(refreshTTL: .seconds(60)) { bench in
            let fields = Self.fields(Self.own[index].0, Self.own[index].1)
            let id = try await bench.accept("1")
            for request in Self.changes + [(.get, "/api/notifications/\(id)")] {
                let answer = try await Self.status(bench, request, fields, by: bench.basic())
                #expect(answer.status != .forbidden, "\(request)")
            }
        }
    }

    @Test func `Web apps that may call may use passwords`() async throws {
        let app = "https://app.example.net"
        let policy = CORSPolicy(origins: [try WebOrigin(app)])
        try await withRetrieval(refreshTTL: .seconds(60), cors: policy) { bench in
            let fields = Self.fields(app, "cross-site")
            let logIn = try await Self.status(bench, (.post, "/api/token"), fields, by: bench.basic())
            #expect(logIn.status == .ok && logIn.headers[.accessControlAllowOrigin] == app)
            for origin in ["https://app.example.net:8443", "http://app.example.net", "null"] {
                let other = Self.fields(origin, "cross-site")
                let refused = try await Self.status(bench, (.post, "/api/token"), other, by: bench.basic())
                try refused.expectProblem(403)
            }
        }
    }

    @Test func `A refusal is in the audit log`() async throws {
        try await withRetrieval(hasAuditLog: true) { bench in
            let fields = Self.fields("https://evil.example", "cross-site")
            let answer = try await Self.status(bench, (.delete, "/api/devices"), fields, by: bench.basic())
            try answer.expectProblem(403)
            let lines = try String(contentsOfFile: bench.folder + "/audit.log", encoding: .utf8)
            #expect(lines.contains("device.remove-all") && lines.contains("refused"))
        }
    }
}
