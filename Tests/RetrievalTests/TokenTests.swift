import APITestSupport
import Domain
import Foundation
import Foundations
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import Authentication
@testable import Retrieval

@Suite("POST /api/token")
struct TokenTests {
    @Test func `A password gives a token that reads`() async throws {
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

    @Test func `A token gives no token`() async throws {
        try await withRetrieval { bench in
            for authorization in [try bench.token(), nil, bench.basic("alice", "wrong"), bench.basic("eve")] {
                let answer = try await bench.request(.post, "/api/token", by: authorization)
                try answer.expectProblem(401)
                #expect(answer.headers[values: .wwwAuthenticate].contains { $0.hasPrefix("Basic ") })
            }
        }
    }

    /// The check of the password can have the users' file of a moment ago. Before, the token was bound to the new
    /// entry, and outlived the change.
    @Test(arguments: [nil, .seconds(600)] as [Duration?])
    func `An old password gets no token`(refreshTTL: Duration?) async throws {
        let hash = try PasswordHash.make(password: "new")
        try await withRetrieval(refreshTTL: refreshTTL) { bench in
            #expect(try await bench.request(.post, "/api/token", by: bench.basic()).status == .ok)
            try Data("alice \(hash)".utf8).write(to: URL(filePath: bench.folder + "/users"), options: .atomic)
            // Fewer than make the user wait.
            for _ in 0..<4 {
                let answer = try await bench.request(.post, "/api/token", by: bench.basic())
                try answer.expectProblem(401)
                #expect(answer.headers[values: .wwwAuthenticate].contains { $0.hasPrefix("Basic ") })
            }
            let answer = try await bench.request(.post, "/api/token", by: bench.basic("alice", "new"))
            #expect(answer.status == .ok)
            let token = try #require(try answer.object()["access_token"] as? String)
            let id = try await bench.accept("1")
            #expect(try await bench.read(id, by: "Bearer \(token)").status == .ok)
        }
    }

    /// Case 32: 401 let an app log in again and again. Over HTTP/1.1, whose parser has limits of its own.
    @Test(arguments: [
        (8_200, 200), (16_000, 200), (16_384, 200), (16_385, 431), (17_000, 431), (24_000, 431), (70_000, 431),
    ])
    func `A long token is taken or too large`(length: Int, status: Int) async throws {
        try await RouteWay.$current.withValue(.direct) {
            try await withRetrieval { bench in
                let key = try TokenSigningKey(path: bench.folder + "/signing-key.pem")
                let alice = try #require(UserName("alice"))
                func token(_ padding: Int) throws -> String {
                    let id = String(repeating: "x", count: padding)
                    return try key.sign(TokenClaims(subject: alice, expiresAt: .now + .seconds(600), tokenID: id))
                }
                var padding = (length - (try token(0).utf8.count)) * 3 / 4
                while try token(padding).utf8.count < length { padding += 1 }
                while try token(padding).utf8.count > length { padding -= 1 }
                // Not every length is one of base64: at most two bytes are missing.
                var text = try token(padding)
                if status == 431 { text += String(repeating: "A", count: length - text.utf8.count) }
                let id = try await bench.accept("1")
                for _ in 0..<2 {
                    let headers: HTTPFields = [.authorization: "Bearer " + text]
                    let answer = try await bench.client.execute(
                        uri: "/api/notifications/\(id)", method: .get, headers: headers)
                    #expect(answer.status.code == status)
                    if status != 200 { try answer.expectProblem(status) }
                    #expect(answer.headers[.wwwAuthenticate] == nil)
                    if length > 20_000 { break }
                }
            }
        }
    }

    @Test func `Without a signing key there is no token`() async throws {
        try await withRetrieval(issuesTokens: false) { bench in
            try (try await bench.request(.post, "/api/token", by: bench.basic())).expectProblem(404)
        }
    }
}
