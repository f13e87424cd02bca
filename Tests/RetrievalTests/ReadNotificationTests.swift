import Foundation
import HTTPTypes
import HummingbirdTesting
import SecurePushCore
import Testing

@testable import Retrieval

@Suite("GET /api/notifications/{id}")
struct ReadNotificationTests {
    @Test func theAnswerIsExact() async throws {
        try await withRetrieval { bench in
            let id = try await bench.accept(#""Your results are in.""#)
            let answer = try await bench.read(id)
            #expect(answer.status == .ok)
            #expect(answer.text == #"{"Id":"\#(id)","Payload":"Your results are in.","Read":false}"#)
            #expect(answer.headers[.contentType] == "application/json")
            #expect(answer.headers[.cacheControl] == "no-store")
            // Again, by the password this time.
            let again = try await bench.read(id, by: bench.basic())
            #expect(again.text == #"{"Id":"\#(id)","Payload":"Your results are in.","Read":true}"#)
        }
    }

    @Test(arguments: [
        "null", "1.10", "-0.0", "1e400", "12345678901234567890", "false", #""""#, #""\u0041\n\ud83d\ude00 é / \/""#,
        #"{"b":1, "a":[true,null],"b":2}"#, "\"e\u{301}\"",
    ])
    func payloadsComeBackByteForByte(_ payload: String) async throws {
        try await withRetrieval { bench in
            let id = try await bench.accept(payload)
            let expected = #"{"Id":"\#(id)","Payload":\#(payload),"Read":false}"#
            #expect(try await bench.read(id).text.utf8.elementsEqual(expected.utf8))
        }
    }

    @Test func aHeadReadsNothing() async throws {
        try await withRetrieval { bench in
            let id = try await bench.accept("1")
            let head = try await bench.request(.head, "/api/notifications/\(id)", by: try bench.token())
            #expect(head.status == .ok)
            #expect(head.text.isEmpty)
            #expect(try await bench.read(id).text.hasSuffix(#""Read":false}"#))
        }
    }

    @Test func whatIsNotYoursIsNotThere() async throws {
        try await withRetrieval { bench in
            let id = try await bench.accept("1", for: "bob")
            let others = try await bench.read(id)
            let unknown = try await bench.read(NotificationID())
            let malformed = try await bench.request(.get, "/api/notifications/42", by: try bench.token())
            var documents: [NSDictionary] = []
            for answer in [others, unknown, malformed] {
                try answer.expectProblem(404)
                var document = try answer.object()
                document["instance"] = nil
                documents.append(document as NSDictionary)
            }
            #expect(documents[0] == documents[1] && documents[1] == documents[2])
            // The attempt has marked nothing.
            #expect(try await bench.read(id, by: try bench.token("bob")).text.hasSuffix(#""Read":false}"#))
        }
    }

    @Test func anotherUsersExpiredOneIsNotThereEither() async throws {
        try await withRetrieval { bench in
            let id = try await bench.accept("1", for: "bob", expiresAt: .now - .seconds(1))
            try (try await bench.read(id)).expectProblem(404)
        }
    }

    @Test func expiredIsGoneForItsOwner() async throws {
        try await withRetrieval { bench in
            let id = try await bench.accept(#""a secret""#, expiresAt: .now - .milliseconds(1))
            let answer = try await bench.read(id)
            try answer.expectProblem(410)
            #expect(!answer.text.contains("a secret"))
        }
    }

    @Test(arguments: [nil, "", "Digest x", "Basic !", "Basic YWxpY2U6d3Jvbmc=", "Bearer", "Bearer a.b.c"])
    func withoutGoodCredentialsItIs401(_ authorization: String?) async throws {
        try await withRetrieval { bench in
            let id = try await bench.accept("1")
            let answer = try await bench.read(id, by: .some(authorization))
            try answer.expectProblem(401)
            let challenges = answer.headers[values: .wwwAuthenticate]
            #expect(challenges.contains { $0.hasPrefix("Bearer realm=") }, "\(challenges)")
            #expect(try await bench.read(id).text.hasSuffix(#""Read":false}"#))
        }
    }

    @Test func anExpiredTokenIsToldSo() async throws {
        try await withRetrieval { bench in
            let id = try await bench.accept("1")
            let answer = try await bench.read(id, by: try bench.token(at: .now - .seconds(7200)))
            try answer.expectProblem(401)
            let challenge = try #require(answer.headers[.wwwAuthenticate])
            #expect(challenge.hasPrefix("Bearer ") && challenge.contains(#"error="invalid_token""#))
        }
    }

    @Test func canonicallyEquivalentNamesAreDifferentUsers() async throws {
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
