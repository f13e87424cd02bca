import APITestSupport
import Domain
import Foundation
import Foundations
import HTTPTypes
import HummingbirdTesting
import Logging
import ServiceRuntime
import Testing

@testable import Retrieval

@Suite("GET /api/notifications/{id}", .bothWays)
struct ReadNotificationTests {
    @Test func `The answer is exact`() async throws {
        try await withRetrieval { bench in
            let expiresAt = Timestamp.now + .seconds(3600)
            let id = try await bench.accept(#""Your results are in.""#, expiresAt: expiresAt)
            let answer = try await bench.read(id)
            #expect(answer.status == .ok)
            let start = #"{"Id":"\#(id)","ExpiresAt":"\#(expiresAt)","Payload":"Your results are in.","#
            #expect(answer.text == start + #""Read":false}"#)
            #expect(answer.headers[.contentType] == "application/json")
            #expect(answer.headers[.cacheControl] == "no-store")
            // Again, by the password this time.
            let again = try await bench.read(id, by: bench.basic())
            #expect(again.text == start + #""Read":true}"#)
        }
    }

    @Test(arguments: [
        "null", "1.10", "-0.0", "1e400", "12345678901234567890", "false", #""""#, #""\u0041\n\ud83d\ude00 é / \/""#,
        #"{"b":1, "a":[true,null],"b":2}"#, "\"e\u{301}\"",
    ])
    func `Payloads come back byte for byte`(_ payload: String) async throws {
        try await withRetrieval { bench in
            let expiresAt = Timestamp.now + .seconds(3600)
            let id = try await bench.accept(payload, expiresAt: expiresAt)
            let expected = #"{"Id":"\#(id)","ExpiresAt":"\#(expiresAt)","Payload":\#(payload),"Read":false}"#
            #expect(try await bench.read(id).text.utf8.elementsEqual(expected.utf8))
        }
    }

    @Test func `HEAD reads nothing`() async throws {
        try await withRetrieval { bench in
            let id = try await bench.accept("1")
            let head = try await bench.request(.head, "/api/notifications/\(id)", by: try bench.token())
            #expect(head.status == .ok)
            #expect(head.text.isEmpty)
            #expect(try await bench.read(id).text.hasSuffix(#""Read":false}"#))
        }
    }

    @Test func `What is not yours is not there`() async throws {
        try await withRetrieval { bench in
            let id = try await bench.accept("1", for: "bob")
            let others = try await bench.read(id)
            let unknown = try await bench.read(NotificationID())
            let malformed = try await bench.request(.get, "/api/notifications/42", by: try bench.token())
            let expired = try await bench.read(
                try await bench.accept("1", for: "bob", expiresAt: .now - .seconds(1)))
            let revoked = try await bench.accept("1", for: "bob")
            #expect(try await bench.store.revoke(revoked, sender: "clinic", now: .now))
            var seen: Set<String> = []
            for answer in [others, unknown, malformed, expired, try await bench.read(revoked)] {
                try answer.expectProblem(404)
                var document = try answer.object()
                document["instance"] = nil
                let body = document.map { "\($0.key)=\($0.value)" }.sorted()
                let headers = answer.headers.filter { !["x-request-id", "date"].contains($0.name.canonicalName) }
                seen.insert("\(body) \(headers.map(\.description).sorted())")
            }
            #expect(seen.count == 1, "\(seen)")
            // The attempt has marked nothing.
            #expect(try await bench.read(id, by: try bench.token("bob")).text.hasSuffix(#""Read":false}"#))
        }
    }

    @Test func `Before its time it is not there`() async throws {
        try await withRetrieval { bench in
            let early = try await bench.accept(#""embargoed""#, notBefore: .now + .seconds(600))
            let due = try await bench.accept(#""published""#, notBefore: .now - .milliseconds(1))
            let answer = try await bench.read(early)
            try answer.expectProblem(404)
            let unknown = try await bench.read(NotificationID())
            #expect(try answer.object()["detail"] as? String == unknown.object()["detail"] as? String)
            #expect(try await bench.read(due).text.contains("published"))
            #expect(try await bench.store.record(early, sender: "clinic")?.readAt == nil)
            // Revoked before its time, it has never been there.
            #expect(try await bench.store.revoke(early, sender: "clinic", now: .now))
            try (try await bench.read(early)).expectProblem(404)
        }
    }

    @Test func `Expired is gone for its owner`() async throws {
        try await withRetrieval { bench in
            let id = try await bench.accept(#""a secret""#, expiresAt: .now - .milliseconds(1))
            let answer = try await bench.read(id)
            try answer.expectProblem(410)
            #expect(!answer.text.contains("a secret"))
        }
    }

    @Test func `Revoked is gone for its owner`() async throws {
        try await withRetrieval { bench in
            let id = try await bench.accept("1")
            #expect(try await bench.read(id).status == .ok)
            #expect(try await bench.store.revoke(id, sender: "clinic", now: .now))
            let answer = try await bench.read(id)
            try answer.expectProblem(410)
            #expect(try answer.object()["detail"] as? String == "The notification was revoked.")
            #expect(answer.headers[.cacheControl] == "no-store")
        }
    }

    @Test func `Purged is gone for its owner and then forgotten`() async throws {
        try await withRetrieval { bench in
            let expiry = Timestamp.now - .seconds(1)
            let id = try await bench.accept("1", expiresAt: expiry)
            #expect(try await bench.store.purge(limit: 10, now: .now).payloads == 1)
            try (try await bench.read(id)).expectProblem(410)
            _ = try await bench.store.purge(limit: 10, now: expiry + RetentionPolicy.tombstone)
            try (try await bench.read(id)).expectProblem(404)
        }
    }

    @Test func `Readings are counted`() async throws {
        try await withRetrieval { bench in
            let id = try await bench.accept("1", createdAt: .now - .seconds(3600), expiresAt: .now + .seconds(60))
            _ = try await bench.request(.head, "/api/notifications/\(id)", by: try bench.token())
            for _ in 0..<2 { _ = try await bench.read(id) }
            _ = try await bench.read(NotificationID())
            _ = try await bench.read(try await bench.accept("1", expiresAt: .now - .seconds(1)))
            _ = try await bench.read(id, by: .some(nil))
            _ = try await bench.request(.get, "/api/notifications", by: try bench.token())
            let lines = bench.metrics.exposition().split(separator: "\n")
            for line in [
                // HEAD reads nothing.
                #"securepush_retrievals_total{result="ok"} 2"#, #"securepush_retrievals_total{result="not_found"} 1"#,
                #"securepush_retrievals_total{result="gone"} 1"#,
                #"securepush_retrievals_total{result="unauthorized"} 1"#, "securepush_inbox_requests_total 1",
                // The first reading only, and an hour after the creation.
                "securepush_time_to_fetch_seconds_count 1", #"securepush_time_to_fetch_seconds_bucket{le="10"} 0"#,
            ] { #expect(lines.contains { $0 == line }, "\(line)") }
        }
    }

    @Test func `The log has the trace and nothing of the secret`() async throws {
        let log = KeptLog(.trace)
        try await withRetrieval(logger: log.logger) { bench in
            let trace = "0af7651916cd43dd8448eb211c80319c"
            let id = try await bench.accept(
                #""Your results are in.""#, traceparent: "00-\(trace)-b7ad6b7169203331-01")
            let token = try bench.token()
            #expect(try await bench.read(id, by: token).status == .ok)
            let lines = log.lines
            let line = try #require(lines.first { $0.contains("Notification read") })
            #expect(line.contains(#""trace_id":"\#(trace)""#) && line.contains("\(id)"), "\(line)")
            let all = lines.joined()
            #expect(!all.contains("results") && !all.contains(token.dropFirst(7)))
        }
    }

    /// The likeliest mistake of a key rotation.
    @Test func `A missing payload key is 500 and named in the log`() async throws {
        let log = KeptLog(.info)
        try await withRetrieval(logger: log.logger) { bench in
            let id = try await bench.accept(#""a secret""#)
            let lost = try await bench.acceptUnopenable()
            let answer = try await bench.read(lost)
            try answer.expectProblem(500)
            #expect(!answer.text.contains("key"))
            let lines = log.lines.joined()
            #expect(lines.contains("The key ring holds no key"), "\(lines)")
            #expect(!lines.contains("secret"))
            #expect(try await bench.read(id).status == .ok)
        }
    }

    @Test(arguments: [nil, "", "Digest x", "Basic !", "Basic YWxpY2U6d3Jvbmc=", "Bearer", "Bearer a.b.c"])
    func `Without good credentials it is 401`(_ authorization: String?) async throws {
        try await withRetrieval { bench in
            let id = try await bench.accept("1")
            let answer = try await bench.read(id, by: .some(authorization))
            try answer.expectProblem(401)
            let challenges = answer.headers[values: .wwwAuthenticate]
            #expect(challenges.contains { $0.hasPrefix("Bearer realm=") }, "\(challenges)")
            #expect(try await bench.read(id).text.hasSuffix(#""Read":false}"#))
        }
    }

    @Test func `An expired token is told so`() async throws {
        try await withRetrieval { bench in
            let id = try await bench.accept("1")
            let answer = try await bench.read(id, by: try bench.token(at: .now - .seconds(7200)))
            try answer.expectProblem(401)
            let challenge = try #require(answer.headers[.wwwAuthenticate])
            #expect(challenge.hasPrefix("Bearer ") && challenge.contains(#"error="invalid_token""#))
        }
    }

    @Test func `Canonically equivalent names are different users`() async throws {
        let (composed, decomposed) = ("ren\u{E9}", "rene\u{301}")
        try await withRetrieval { bench in
            let id = try await bench.accept("1", for: composed)
            try (try await bench.read(id, by: try bench.token(decomposed))).expectProblem(404)
            #expect(try await bench.read(id, by: try bench.token(composed)).status == .ok)
        }
    }
}

extension RetrievalBench {
    /// Reads a notification as `alice`, unless other credentials are given.
    func read(_ id: NotificationID, by authorization: String?? = nil) async throws -> TestResponse {
        try await request(.get, "/api/notifications/\(id)", by: authorization ?? (try token()))
    }
}
