import APITestSupport
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import Retrieval

@Suite("POST /api/token")
struct TokenTests {
    @Test func aPasswordGivesATokenThatReads() async throws {
        try await withRetrieval { bench in
            let answer = try await bench.request(.post, "/api/token", by: bench.basic())
            #expect(answer.status == .ok)
            #expect(answer.headers[.cacheControl] == "no-store")
            let document = try answer.object()
            #expect(Set(document.keys) == ["access_token", "token_type", "expires_in"])
            #expect(document["token_type"] as? String == "Bearer")
            #expect(document["expires_in"] as? Int == 600)
            let token = try #require(document["access_token"] as? String)
            let id = try await bench.accept("1")
            #expect(try await bench.read(id, by: "Bearer \(token)").status == .ok)
        }
    }

    @Test func aTokenGivesNoToken() async throws {
        try await withRetrieval { bench in
            for authorization in [try bench.token(), nil, bench.basic("alice", "wrong"), bench.basic("eve")] {
                let answer = try await bench.request(.post, "/api/token", by: authorization)
                try answer.expectProblem(401)
                #expect(answer.headers[values: .wwwAuthenticate].contains { $0.hasPrefix("Basic ") })
            }
        }
    }

    @Test func withoutASigningKeyThereIsNone() async throws {
        try await withRetrieval(issuesTokens: false) { bench in
            try (try await bench.request(.post, "/api/token", by: bench.basic())).expectProblem(404)
        }
    }
}
