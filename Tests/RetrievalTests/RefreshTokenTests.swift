import APITestSupport
import Authentication
import Domain
import Foundation
import Foundations
import HTTPTypes
import HummingbirdTesting
import StackKit
import TestSupport
import Testing

@testable import Retrieval

@Suite("Refresh tokens over HTTP")
struct RefreshTokenTests {
    private static let form = "application/x-www-form-urlencoded"

    private static func json(_ token: String) -> String {
        #"{"grant_type":"refresh_token","refresh_token":"\#(token)"}"#
    }

    private func withTokens(_ body: @escaping @Sendable (RetrievalBench) async throws -> Void) async throws {
        try await withRetrieval(refreshTTL: .seconds(600), body)
    }

    private func logIn(_ bench: RetrievalBench) async throws -> String {
        let answer = try await bench.request(.post, "/api/token", by: bench.basic())
        #expect(answer.status == .ok)
        return try #require(try answer.object()["refresh_token"] as? String)
    }

    private func refresh(_ bench: RetrievalBench, _ token: String) async throws -> TestResponse {
        try await bench.request(.post, "/api/token", by: nil, body: Self.json(token))
    }

    @Test func `A refresh gives new tokens in both forms`() async throws {
        try await withTokens { bench in
            var token = try await logIn(bench)
            let id = try await bench.accept("1")
            for isForm in [true, false] {
                let body = isForm ? "grant_type=refresh_token&refresh_token=\(token)" : Self.json(token)
                let answer = try await bench.request(
                    .post, "/api/token", by: nil, body: body, contentType: isForm ? Self.form : "application/json")
                #expect(answer.status == .ok && answer.headers[.cacheControl] == "no-store")
                let document = try answer.object()
                #expect(Set(document.keys) == ["access_token", "token_type", "expires_in", "refresh_token"])
                let access = try #require(document["access_token"] as? String)
                #expect(try await bench.read(id, by: "Bearer \(access)").status == .ok)
                let next = try #require(document["refresh_token"] as? String)
                #expect(next != token)
                token = next
            }
        }
    }

    /// RFC 6749, section 3.2: parameters of a form that are not known are ignored.
    @Test(arguments: [
        "scope=read&client_id=app", "client_secret=", "client_secret=a%20b", "resource=https%3A%2F%2Fa&audience=b",
        "client_assertion=e.y.J", "x", "=y", "&&", "%FF=1", "a=%FF", "resource=a&resource=b",
        "client_assertion=" + String(repeating: "e", count: 16_000),
    ])
    func `Other parameters of a form are ignored`(more: String) async throws {
        try await withTokens { bench in
            for method in [HTTPRequest.Method.post, .delete] {
                let token = try await logIn(bench)
                let body = "\(more)&grant_type=refresh_token&refresh_token=\(token)"
                let answer = try await bench.request(method, "/api/token", by: nil, body: body, contentType: Self.form)
                #expect(answer.status == (method == .post ? .ok : .noContent), "\(method)")
            }
        }
    }

    @Test func `A token whose successor was used ends its family and no other`() async throws {
        try await withTokens { bench in
            let (first, other) = (try await logIn(bench), try await logIn(bench))
            let second = try #require(try await refresh(bench, first).object()["refresh_token"] as? String)
            // The answer was lost: the same again.
            #expect(try await refresh(bench, first).object()["refresh_token"] as? String == second)
            #expect(try await refresh(bench, second).status == .ok)
            let reused = try await refresh(bench, first)
            try reused.expectProblem(401)
            #expect(reused.headers[values: .wwwAuthenticate].contains { $0.contains(#"error="invalid_token""#) })
            try (try await refresh(bench, second)).expectProblem(401)
            #expect(try await refresh(bench, other).status == .ok)
        }
    }

    @Test func `Many requests with one token get the same successor`() async throws {
        try await withTokens { bench in
            let token = try await logIn(bench)
            let successors = try await withThrowingTaskGroup(of: String?.self) { group in
                for _ in 0..<20 {
                    group.addTask { try await refresh(bench, token).object()["refresh_token"] as? String }
                }
                return try await group.reduce(into: Set<String?>()) { $0.insert($1) }
            }
            #expect(successors.count == 1 && !successors.contains(nil) && !successors.contains(token))
        }
    }

    @Test(arguments: ["", "alice NEW\nbob NEW\n"]) func `Who is removed or has another password cannot refresh`(
        file: String
    ) async throws {
        try await withTokens { bench in
            var token = try await logIn(bench)
            let hash = try PasswordHash.make(password: "another")
            try Data(file.replacing("NEW", with: hash).utf8).write(to: URL(filePath: bench.folder + "/users"))
            // Until the service notices the change, each refresh gives the next token: none is used twice.
            let isRefused = try await eventually {
                let answer = try await refresh(bench, token)
                if answer.status == .unauthorized { return true }
                token = try #require(try answer.object()["refresh_token"] as? String)
                return false
            }
            #expect(isRefused)
        }
    }

    @Test func `Deleting ends the family whoever asks`() async throws {
        try await withTokens { bench in
            let token = try await logIn(bench)
            let unknown = String(repeating: "A", count: 64)
            for body in [Self.json(unknown), Self.json("x"), Self.json(""), Self.json(token), Self.json(token)] {
                let answer = try await bench.request(.delete, "/api/token", by: nil, body: body)
                #expect(answer.status == .noContent && answer.text.isEmpty)
            }
            try (try await refresh(bench, token)).expectProblem(401)
        }
    }

    @Test func `A token that expired is refused and purged`() async throws {
        try await withTokens { bench in
            let tokens = try #require(bench.refresh)
            let alice = try #require(UserName("alice"))
            let old = try await tokens.begin(for: alice, now: .now - .seconds(600)).refresh
            let young = try await tokens.begin(for: alice, now: .now).refresh
            try (try await refresh(bench, old)).expectProblem(401)
            await RefreshTokenSweep(tokens: tokens, logger: .silent).sweep()
            #expect(try await tokens.purge(limit: 9) == 0)
            #expect(try await refresh(bench, young).status == .ok)
        }
    }

    /// Content type, body, status.
    static let badBodies: [(String?, String, Int)] = [
        ("application/json", "{", 400), ("application/json", "[]", 422), ("application/json", "null", 422),
        ("application/json", #"{"refresh_token":"x"}"#, 422),
        ("application/json", #"{"grant_type":"refresh_token"}"#, 422),
        ("application/json", #"{"grant_type":"password","refresh_token":"x"}"#, 422),
        ("application/json", #"{"grant_type":"refresh_token","refresh_token":7}"#, 422),
        ("application/json", #"{"grant_type":"refresh_token","refresh_token":"x","a":1}"#, 422),
        ("application/json", #"{"grant_type":"refresh_token","refresh_token":"x","REFRESH_TOKEN":"y"}"#, 422),
        ("application/json", #"{"grant_type":"refresh_token","refresh_token":"x"}"#, 401),
        ("application/json", #"{"grant_type":"refresh_token","refresh_token":""}"#, 401),
        ("application/json", #"{"grant_type":"refresh_token","refresh_token":"\u0000"}"#, 401),
        (form, "grant_type=refresh_token", 422), (form, "refresh_token=x", 422), (form, "=&=&", 422),
        (form, "grant_type=refresh_token&refresh_token=x&refresh_token=y", 422),
        (form, "grant_type=refresh_token&refresh_token=%FF", 422),
        (form, "grant_type=refresh_token&refresh_token=%2", 422),
        (form, "grant_type=refresh_token&refresh_token=x&client_id=a&client_id=b", 422),
        (form, "grant_type=refresh_token&refresh_token=x&scope=a&%73cope=", 422),
        (form, "grant_type=refresh_token&grant_type=refresh_token&refresh_token=x", 422),
        (form, "grant_type=refresh_token&refresh_token=", 422), (form, "grant_type=&refresh_token=x", 422),
        (form, "grant_type=refresh_token&refresh_token=" + String(repeating: "A", count: 64), 401),
        (form, "grant_type=refresh_token&refresh_token=" + String(repeating: "!", count: 64), 401),
        (form, String(repeating: "a", count: 16_385), 413), (nil, "x", 415), ("text/plain", "x", 415),
        ("application/json; charset=latin1", "{}", 415), ("application/json", "", 401), (nil, "", 401),
    ]

    @Test(arguments: badBodies.indices) func `Bad bodies are refused`(_ index: Int) async throws {
        let (type, body, status) = Self.badBodies[index]
        try await withTokens { bench in
            let answer = try await bench.request(.post, "/api/token", by: nil, body: body, contentType: type)
            try answer.expectProblem(status)
            #expect((status == 401) == (answer.headers[.wwwAuthenticate] != nil))
            #expect(try await refresh(bench, try await logIn(bench)).status == .ok)
        }
    }

    @Test func `Other credentials are not mixed with a refresh`() async throws {
        try await withTokens { bench in
            let token = try await logIn(bench)
            let bearer = try await bench.request(.post, "/api/token", by: try bench.token(), body: Self.json(token))
            try bearer.expectProblem(401)
            // A password is a log-in, whatever the body says: the token is not used up.
            let basic = try await bench.request(.post, "/api/token", by: bench.basic(), body: Self.json(token))
            #expect(basic.status == .ok)
            #expect(try await refresh(bench, token).status == .ok)
        }
    }

    @Test func `Without the setting there are no refresh tokens`() async throws {
        try await withRetrieval { bench in
            let answer = try await bench.request(.post, "/api/token", by: bench.basic())
            #expect(Set(try answer.object().keys) == ["access_token", "token_type", "expires_in"])
            try (try await refresh(bench, "x")).expectProblem(401)
            let end = try await bench.request(.delete, "/api/token", by: nil, body: Self.json("x"))
            try end.expectProblem(404)
        }
    }
}
