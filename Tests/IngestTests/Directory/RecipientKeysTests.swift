import APITestSupport
import Domain
import Foundations
import HTTPTypes
import HummingbirdTesting
import TestSupport
import Testing

@testable import Ingest

@Suite("GET /api/recipients/{name}/keys")
struct RecipientKeysTests {
    private static let x = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"
    private static let y = "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"

    private static func key() throws -> EncryptionKey {
        let point = try [4] + #require(Base64.decode(x, .url)) + #require(Base64.decode(y, .url))
        return try #require(EncryptionKey(point: point))
    }

    private func keys(
        _ bench: IngestBench, _ name: String, by authorization: String? = nil, _ method: HTTPRequest.Method = .get
    ) async throws -> TestResponse {
        let authorization = authorization ?? bench.credentials.sender
        return try await bench.client.execute(
            uri: "/api/recipients/\(name)/keys", method: method,
            headers: authorization.isEmpty ? [:] : [.authorization: authorization])
    }

    private func install(_ bench: IngestBench, _ id: String, of owner: String, at time: Timestamp) async throws {
        let owner = try #require(UserName(owner))
        try await bench.store.save(
            Installation(id: id, owner: owner, platform: .apple, handle: id, document: [], updatedAt: time))
        let isKnown = try await bench.store.setEncryptionKey(Self.key(), of: id, owner: owner, now: time)
        #expect(isKnown)
    }

    @Test func `A sender gets the public keys of the recipient's devices`() async throws {
        try await withIngest { bench in
            let time = Timestamp(milliseconds: 1_800_000_000_123)
            try await install(bench, "phone", of: "alice", at: time)
            try await install(bench, "Browser.1", of: "alice", at: time)
            try await install(bench, "other", of: "bob", at: time)
            let answer = try await keys(bench, "alice")
            #expect(answer.status == .ok)
            #expect(answer.headers[.contentType] == "application/json")
            #expect(answer.headers[.cacheControl] == "no-store")
            let jwk = #"{"kty":"EC","crv":"P-256","x":"\#(Self.x)","y":"\#(Self.y)"}"#
            let key = #""Key":\#(jwk),"CreatedAt":"2027-01-15T08:00:00.123Z"}"#
            #expect(
                answer.text
                    == #"{"Keys":[{"DeviceId":"Browser.1","# + key + #",{"DeviceId":"phone","# + key + "]}")
            #expect(try await keys(bench, "alice", .head).status == .ok)
        }
    }

    /// What is told of an unknown user and of a user without keys is the same, so senders learn no names from it.
    @Test(arguments: ["nobody", "carol", "ALICE", "alice%20", "%C3%A9"])
    func `Other recipients have no keys`(_ name: String) async throws {
        try await withIngest { bench in
            try await install(bench, "phone", of: "alice", at: .now)
            try await bench.store.save(
                Installation(
                    id: "i", owner: try #require(UserName("carol")), platform: .apple, handle: "i", document: [],
                    updatedAt: .now))
            let answer = try await keys(bench, name)
            #expect(answer.status == .ok && answer.text == #"{"Keys":[]}"#)
        }
    }

    @Test(arguments: [
        ("a%2Fb", "a/b"), ("%C3%A9", "\u{E9}"), ("e%CC%81", "e\u{301}"), ("a+b%20c", "a+b c"), ("%25", "%"),
    ])
    func `A name is decoded once`(_ path: String, _ name: String) async throws {
        try await withIngest { bench in
            try await install(bench, "phone", of: name, at: .now)
            let answer = try await keys(bench, path)
            #expect(answer.status == .ok && answer.text.contains("phone"))
        }
    }

    @Test(arguments: ["%00", "a%0Ab", "%C2%80", "%FF", "%zz", String(repeating: "a", count: 1025)])
    func `A name that nobody can have is not found`(_ path: String) async throws {
        try await withIngest { bench in try (try await keys(bench, path)).expectProblem(404) }
    }

    @Test func `At most a hundred devices are listed`() async throws {
        try await withIngest { bench in
            for number in 0...100 { try await install(bench, "i\(1000 + number)", of: "alice", at: .now) }
            let listed = try await keys(bench, "alice").object()["Keys"] as? [[String: Any]]
            #expect(listed?.count == 100 && listed?.first?["DeviceId"] as? String == "i1000")
        }
    }
}
