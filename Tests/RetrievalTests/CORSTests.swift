import APITestSupport
import Domain
import Foundations
import HTTPTypes
import HummingbirdTesting
import ServiceConfiguration
import ServiceRuntime
import TestSupport
import Testing

@testable import Retrieval

@Suite("RETRIEVAL_CORS_ORIGINS")
struct CORSTests {
    private static let app = "https://app.example.org"
    private static let other = "https://other.example.org:8443"

    private func withPolicy(_ body: @escaping @Sendable (RetrievalBench) async throws -> Void) async throws {
        let origins = try [Self.app, Self.other].map { try WebOrigin($0) }
        try await withRetrieval(cors: CORSPolicy(origins: origins), body)
    }

    @Test(arguments: [
        ("/api/notifications/1", "GET, HEAD"), ("/api/notifications", "GET, HEAD"), ("/api/notifications/read", "POST"),
        ("/api/notifications/1/shown", "POST"), ("/api/installations/phone-1", "DELETE, GET, HEAD, PUT"),
    ])
    func `A preflight request is answered with the path's methods`(_ path: String, _ methods: String) async throws {
        try await withPolicy { bench in
            for origin in [Self.app, Self.other] {
                let answer = try await bench.preflight(path, from: origin)
                #expect(answer.status == .noContent && answer.text.isEmpty)
                #expect(answer.headers[.accessControlAllowOrigin] == origin)
                #expect(answer.headers[.accessControlAllowMethods] == methods)
                let headers = try #require(answer.headers[.accessControlAllowHeaders])
                let expected = "Authorization, Content-Type, Idempotency-Key, Traceparent, Tracestate, Baggage, "
                #expect(headers == expected + "X-Request-Id")
                #expect(answer.headers[.accessControlMaxAge] == "7200")
                #expect(answer.headers[.vary] == "Origin")
                // Cookies are not for this API.
                #expect(answer.headers[.accessControlAllowCredentials] == nil)
                #expect(answer.headers[values: .xRequestID].count == 1)
            }
        }
    }

    /// Equal but for a letter, a port, a scheme or a dot: all of them are other origins.
    private static let strangers = [
        "https://app.example.org.evil.example", "https://evil.example", "http://app.example.org",
        "https://app.example.org:443", "https://APP.example.org", "https://app.example.org/", "https://app.example.or",
        "https://xapp.example.org", "https://other.example.org", "null", "*", "", "https://app.example.org, null",
    ]

    @Test(arguments: strangers)
    func `Another origin is answered as without the policy`(_ origin: String) async throws {
        try await withPolicy { bench in
            let preflight = try await bench.preflight("/api/notifications", from: origin)
            try preflight.expectProblem(405)
            #expect(preflight.headers[.allow] == "GET, HEAD")
            let answer = try await bench.get("/api/notifications", from: origin)
            #expect(answer.status == .ok)
            for answer in [preflight, answer] {
                #expect(answer.headers.allSatisfy { !$0.name.canonicalName.hasPrefix("access-control-") })
                // Otherwise a cache could give this response to the app.
                #expect(answer.headers[.vary] == "Origin")
            }
        }
    }

    /// Tracing libraries in web apps add these; a preflight that misses one fails the whole call.
    @Test
    func `Headers of tracing are allowed, and those of RETRIEVAL_CORS_HEADERS`() async throws {
        let policy = CORSPolicy(
            origins: [try WebOrigin(Self.app)],
            headers: ["Sentry-Trace", "X-B3-TraceId"].compactMap { HTTPField.Name($0) })
        try await withRetrieval(cors: policy) { bench in
            let preflight = try await bench.preflight("/api/notifications", from: Self.app)
            let allowed = Set(
                (preflight.headers[.accessControlAllowHeaders] ?? "").lowercased().split(separator: ",").map {
                    $0.drop { $0 == " " }
                })
            #expect(
                allowed.isSuperset(of: [
                    "traceparent", "tracestate", "baggage", "sentry-trace", "x-b3-traceid", "authorization",
                ]))
        }
    }

    @Test(arguments: ["//", "///", "/"])
    func `Every spelling of the API's paths that the router takes has the policy`(_ slashes: String) async throws {
        try await withPolicy { bench in
            let answer = try await bench.get("\(slashes)api/notifications", from: Self.app)
            #expect(answer.headers[.accessControlAllowOrigin] == Self.app)
        }
    }

    @Test func `The response may be read`() async throws {
        try await withPolicy { bench in
            let id = try await bench.accept("1")
            let answer = try await bench.get("/api/notifications/\(id)", from: Self.app)
            #expect(answer.status == .ok)
            #expect(answer.headers[.accessControlAllowOrigin] == Self.app)
            let exposed = answer.headers[.accessControlExposeHeaders]
            #expect(exposed == "Allow, Retry-After, WWW-Authenticate, X-Request-Id")
            #expect(answer.headers[.vary] == "Origin")
            #expect(answer.headers[.accessControlAllowMethods] == nil)
        }
    }

    /// Without the headers a browser tells the app nothing but that there was an error.
    @Test func `Every error may be read`() async throws {
        try await withPolicy { bench in
            for (number, status) in [401, 401, 401, 401, 401, 429].enumerated() {
                let wrong = bench.basic("mallory", "\(number)")
                let answer = try await bench.get("/api/notifications", from: Self.app, by: wrong)
                try answer.expectProblem(status)
                #expect(answer.headers[.accessControlAllowOrigin] == Self.app)
                #expect(answer.headers[.accessControlExposeHeaders]?.contains("Retry-After") == true)
            }
            let expired = try await bench.accept("1", expiresAt: .now - .seconds(1))
            let paths = [
                ("/api/notifications/\(NotificationID())", 404), ("/api/notifications/\(expired)", 410),
                ("/api/notifications?Limit=0", 422), ("/api/nothing", 404), ("/api/token", 405),
            ]
            for (path, status) in paths {
                let answer = try await bench.get(path, from: Self.app)
                try answer.expectProblem(status)
                #expect(answer.headers[.accessControlAllowOrigin] == Self.app, "\(path)")
            }
        }
    }

    @Test func `A store that is away shows the app its status`() async throws {
        let error = StorageError(.unavailable, "for the test")
        let policy = CORSPolicy(origins: [try WebOrigin(Self.app)])
        try await withRetrieval(reader: AwayStore(error), cors: policy) { bench in
            let answer = try await bench.get("/api/notifications", from: Self.app)
            try answer.expectProblem(503)
            #expect(answer.headers[.accessControlAllowOrigin] == Self.app)
        }
    }

    @Test func `Only a preflight request is answered as one`() async throws {
        try await withPolicy { bench in
            let plain = try await bench.client.execute(
                uri: "/api/notifications", method: .options, headers: [.origin: Self.app])
            try plain.expectProblem(405)
            #expect(plain.headers[.accessControlAllowOrigin] == Self.app)
            try (try await bench.preflight("/api/nothing", from: Self.app)).expectProblem(404)
            let nobody = try await bench.client.execute(
                uri: "/api/notifications", method: .options, headers: [.accessControlRequestMethod: "GET"])
            try nobody.expectProblem(405)
            #expect(nobody.headers[.accessControlAllowOrigin] == nil && nobody.headers[.vary] == "Origin")
        }
    }

    @Test func `Operators' paths are not for web apps`() async throws {
        try await withPolicy { bench in
            for path in ["/livez", "/readyz", "/metrics", "/version", "/openapi.json"] {
                let answer = try await bench.get(path, from: Self.app)
                #expect(answer.headers[.accessControlAllowOrigin] == nil && answer.headers[.vary] == nil)
                try (try await bench.preflight(path, from: Self.app)).expectProblem(405)
            }
        }
    }

    @Test func `Without the setting nothing is different`() async throws {
        try await withRetrieval { bench in
            let answer = try await bench.get("/api/notifications", from: Self.app)
            let preflight = try await bench.preflight("/api/notifications", from: Self.app)
            try preflight.expectProblem(405)
            for answer in [answer, preflight] {
                #expect(answer.headers[.vary] == nil)
                #expect(answer.headers.allSatisfy { !$0.name.canonicalName.hasPrefix("access-control-") })
            }
        }
    }

    @Test func `The origins are read from the setting`() throws {
        let settings = [
            "RETRIEVAL_CORS_ORIGINS": "https://app.example.org , http://localhost:5173", "DATABASE_URL": "memory:",
            "PAYLOAD_KEYS_FILE": "/dev/null", "AUTH_USERS_FILE": "/dev/null",
        ]
        var reader = ConfigurationReader(environment: settings)
        let read = RetrievalConfiguration(&reader)
        let configuration = try #require(read, "\(reader.issues)")
        #expect(configuration.own.webOrigins.map(\.text) == ["https://app.example.org", "http://localhost:5173"])
        var unset = ConfigurationReader(environment: settings.filter { $0.key != "RETRIEVAL_CORS_ORIGINS" })
        let none = RetrievalConfiguration(&unset)
        #expect(none?.own.webOrigins == [])
        var wrong = ConfigurationReader(environment: settings.merging(["RETRIEVAL_CORS_ORIGINS": "*"]) { $1 })
        _ = RetrievalConfiguration(&wrong)
        #expect(wrong.issues.map(\.key) == ["RETRIEVAL_CORS_ORIGINS"])
    }

    @Test(arguments: [
        ("Sentry-Trace , X-B3-TraceId", ["Sentry-Trace", "X-B3-TraceId"]), ("*", nil), ("a b", nil), ("a:b", nil),
        ("a,,b", nil), (String(repeating: "a", count: 65), nil),
    ])
    func `The names of headers are checked`(_ text: String, _ names: [String]?) throws {
        var reader = ConfigurationReader(environment: ["RETRIEVAL_CORS_HEADERS": text])
        #expect(reader[\.retrievalCORSHeaders] == names)
        #expect(reader.issues.map(\.key) == (names == nil ? ["RETRIEVAL_CORS_HEADERS"] : []))
    }
}

extension HTTPField.Name {
    fileprivate static let xRequestID = HTTPField.Name("X-Request-Id")!
}

extension RetrievalBench {
    fileprivate func preflight(_ path: String, from origin: String) async throws -> TestResponse {
        let headers: HTTPFields = [
            .origin: origin, .accessControlRequestMethod: "GET", .accessControlRequestHeaders: "authorization",
        ]
        return try await client.execute(uri: path, method: .options, headers: headers)
    }

    fileprivate func get(
        _ path: String, from origin: String, by authorization: String? = nil
    ) async throws -> TestResponse {
        let headers: HTTPFields = [.origin: origin, .authorization: try authorization ?? token()]
        return try await client.execute(uri: path, method: .get, headers: headers)
    }
}
