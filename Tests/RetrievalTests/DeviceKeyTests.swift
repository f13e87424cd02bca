import APITestSupport
import Domain
import Foundations
import HTTPTypes
import HummingbirdTesting
import NIOCore
import ServiceRuntime
import Testing

@testable import Retrieval

@Suite("PUT /api/devices/{id}/key")
struct DeviceKeyTests {
    private static let staleAfter = Duration.seconds(100)

    private static func body(_ handle: String) -> String { #"{"platform":"apns","pushChannel":"\#(handle)"}"# }

    private static func key() throws -> EncryptionKey {
        try #require(EncryptionKey(point: ES256Key().publicPoint))
    }

    /// What a sender is told of a user's devices.
    private func keys(_ bench: RetrievalBench, of name: String = "alice") async throws -> [DeviceEncryptionKey] {
        try await bench.store.encryptionKeys(of: try #require(UserName(name)), limit: 100)
    }

    /// An installation of alice with a key.
    @discardableResult
    private func register(_ bench: RetrievalBench, _ id: String, handle: String? = nil) async throws -> EncryptionKey {
        let key = try Self.key()
        #expect(try await bench.install(id, Self.body(handle ?? id)).status == .ok)
        #expect(try await bench.putKey(id, key.jwk).status == .noContent)
        return key
    }

    @Test func `A device's key is stored and the hub is not asked`() async throws {
        try await withRetrieval { bench in
            let key = try Self.key()
            #expect(try await bench.install("Phone-1", Self.body("H")).status == .ok)
            let asked = bench.hub.ids
            let answer = try await bench.putKey("phone-1", key.jwk)
            #expect(answer.status == .noContent && answer.text.isEmpty)
            #expect(bench.hub.ids == asked)
            let stored = try await keys(bench)
            #expect(stored.map(\.deviceID) == ["Phone-1"] && stored.map(\.key) == [key])
            // No answer to the user changes by it.
            let listed = try await bench.request(.get, "/api/installations", by: try bench.token()).text
            #expect(!listed.contains("P-256"))
        }
    }

    @Test func `A repetition changes nothing and a new key replaces the old`() async throws {
        try await withRetrieval { bench in
            let first = try await register(bench, "a")
            let before = try await keys(bench)
            while Timestamp.now <= before[0].createdAt { await Task.yield() }
            #expect(try await bench.putKey("a", first.jwk).status == .noContent)
            #expect(try await keys(bench) == before)
            let second = try Self.key()
            #expect(try await bench.putKey("a", second.jwk).status == .noContent)
            let after = try await keys(bench)
            #expect(after.map(\.key) == [second])
            #expect(after[0].createdAt > before[0].createdAt)
        }
    }

    @Test func `A key as browsers export it is accepted`() async throws {
        try await withRetrieval { bench in
            let key = try Self.key()
            #expect(try await bench.install("a", Self.body("H")).status == .ok)
            let exported = #"{"key_ops":[],"ext":true,"# + key.jwk.dropFirst()
            #expect(try await bench.putKey("a", exported).status == .noContent)
            #expect(try await keys(bench).map(\.key) == [key])
        }
    }

    @Test(arguments: [
        (#"{"kty":"OKP","crv":"X25519","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"}"#, ["/crv", "/kty", "/y"]),
        (
            #"{"kty":"EC","crv":"P-384","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#,
            ["/crv"]
        ),
        (#"{"kty":"EC","crv":"P-256","x":"f83O","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#, ["/x"]),
        // Not on the curve.
        (
            #"{"kty":"EC","crv":"P-256","x":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0","y":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"}"#,
            ["/x"]
        ),
        (#"{"kty":"EC","crv":"P-256"}"#, ["/x", "/y"]), ("{}", ["/crv", "/kty", "/x", "/y"]), ("[]", [""]),
    ])
    func `Every invalid member is named`(_ body: String, _ pointers: [String]) async throws {
        try await withRetrieval { bench in
            let key = try await register(bench, "a")
            let answer = try await bench.putKey("a", body)
            try answer.expectProblem(422)
            #expect(try answer.pointers() == pointers)
            #expect(try await keys(bench).map(\.key) == [key])
        }
    }

    /// The answer must say what happened: the key has left the device.
    @Test func `A private key is refused in clear words`() async throws {
        try await withRetrieval { bench in
            #expect(try await bench.install("a", Self.body("H")).status == .ok)
            let secret = "jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI"
            let body = String(try Self.key().jwk.dropLast()) + #","d":"\#(secret)"}"#
            let answer = try await bench.putKey("a", body)
            try answer.expectProblem(422)
            #expect(try answer.pointers() == ["/d"])
            #expect(answer.text.contains("private") && !answer.text.contains(secret))
            #expect(try await keys(bench).isEmpty)
        }
    }

    @Test func `Another user's installation is not there`() async throws {
        try await withRetrieval { bench in
            let key = try await register(bench, "a")
            _ = try await bench.newID()
            let jwk = try Self.key().jwk
            let attempts = [
                try await bench.putKey("a", jwk, by: "bob"), try await bench.putKey("b", jwk),
                // A registration of the tutorial has no key.
                try await bench.putKey("1-hub-1", jwk), try await bench.putKey("..", jwk),
                try await bench.putKey("a%2Fb", jwk),
            ]
            var details: Set<String> = []
            for answer in attempts {
                try answer.expectProblem(404)
                details.insert(try #require(try answer.object()["detail"] as? String))
            }
            #expect(details.count == 1)
            #expect(try await keys(bench).map(\.key) == [key])
            for authorization in [nil, bench.basic("alice", "wrong"), "Bearer x"] {
                let answer = try await bench.request(.put, "/api/devices/a/key", by: authorization, body: jwk)
                try answer.expectProblem(401)
            }
        }
    }

    @Test func `A renewed registration keeps its key`() async throws {
        try await withRetrieval { bench in
            let key = try await register(bench, "a")
            for body in [Self.body("a"), Self.body("another channel")] {
                #expect(try await bench.install("a", body).status == .ok)
                #expect(try await keys(bench).map(\.key) == [key])
            }
        }
    }

    @Test(arguments: [true, false]) func `A new key of a second device is to be told, if wanted`(_ isWanted: Bool)
        async throws
    {
        try await withRetrieval(noticesKeys: isWanted) { bench in
            try await register(bench, "a")
            let later = Timestamp.now + .seconds(1)
            #expect(try await bench.store.leaseKeyNotice(now: later, until: later) == nil)
            try await register(bench, "b")
            let notice = try await bench.store.leaseKeyNotice(now: .now + .seconds(1), until: .now + .seconds(60))
            #expect(notice?.installation == (isWanted ? "b" : nil))
            #expect(notice?.owner == (isWanted ? UserName("alice") : nil))
        }
    }

    // MARK: Removed devices

    @Test(arguments: ["/api/installations/a", "/api/devices"])
    func `A removed device has no key`(_ path: String) async throws {
        try await withRetrieval { bench in
            try await register(bench, "a")
            #expect(try await bench.request(.delete, path, by: try bench.token()).status == .noContent)
            #expect(try await keys(bench).isEmpty)
            // The same device logs in again: it is there without a key until it sends one.
            #expect(try await bench.install("a", Self.body("a")).status == .ok)
            #expect(try await keys(bench).isEmpty)
        }
    }

    @Test func `A device that is swept away has no key`() async throws {
        try await withRetrieval { bench in
            try await register(bench, "a")
            let sweep = DueDeviceSweep(changes: bench.changes, staleAfter: Self.staleAfter, logger: .silent)
            _ = await sweep.sweep()
            #expect(try await keys(bench).count == 1)
            _ = await sweep.sweep(now: .now + Self.staleAfter)
            #expect(try await keys(bench).isEmpty)
        }
    }

    @Test func `A device that the hub has given up has no key`() async throws {
        try await withRetrieval { bench in
            try await register(bench, "a")
            bench.hub.failPuts(PushGatewayError(.gone, "for the test"))
            try (try await bench.install("a", Self.body("a"))).expectProblem(410)
            #expect(try await keys(bench).isEmpty)
        }
    }

    @Test(arguments: ["a", "b"]) func `A device that changes hands has no key`(_ id: String) async throws {
        try await withRetrieval { bench in
            try await register(bench, "a", handle: "H")
            #expect(try await bench.install(id, Self.body("H"), by: "bob").status == .ok)
            for name in ["alice", "bob"] { #expect(try await keys(bench, of: name).isEmpty) }
            let key = try Self.key()
            #expect(try await bench.putKey(id, key.jwk, by: "bob").status == .noContent)
            #expect(try await keys(bench, of: "bob").map(\.key) == [key])
            try (try await bench.putKey(id, key.jwk)).expectProblem(404)
        }
    }

    @Test func `The hub is not needed for a key`() async throws {
        try await withRetrieval { bench in
            #expect(try await bench.install("a", Self.body("H")).status == .ok)
            bench.hub.fail(PushGatewayError(.unavailable, "for the test"))
            let answer = try await bench.putKey("a", try Self.key().jwk)
            #expect(answer.status == .noContent)
        }
        try await withRetrieval(storeIsAway: true) { bench in
            try (try await bench.putKey("a", try Self.key().jwk)).expectProblem(503)
        }
    }
}

extension RetrievalBench {
    fileprivate func putKey(_ id: String, _ body: String, by name: String = "alice") async throws -> TestResponse {
        try await request(.put, "/api/devices/\(id)/key", by: try token(name), body: body)
    }
}
