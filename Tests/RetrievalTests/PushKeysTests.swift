import Domain
import Foundation
import Foundations
import HTTPTypes
import HummingbirdTesting
import Logging
import NIOCore
import ServiceConfiguration
import ServiceRuntime
import Testing

@testable import Retrieval

/// `GET /api/push-keys` and `PUSH_VERIFICATION_KEYS_FILE`.
@Suite struct PushKeysTests {
    @Test func `Everybody gets the keys and may keep them for an hour`() async throws {
        try await withRetrieval { bench in
            for authorization in [nil, "Bearer nobody"] {
                let answer = try await bench.request(.get, "/api/push-keys", by: authorization, contentType: nil)
                #expect(answer.status == .ok)
                #expect(answer.headers[.cacheControl] == "max-age=3600")
                #expect(answer.headers[.contentType] == "application/json")
                let keys = try PushVerificationKeys(jwks: String(buffer: answer.body))
                #expect(keys.keys.count == 1)
            }
        }
    }

    @Test func `Without the setting there are no push keys`() async throws {
        try await withRetrieval(issuesTokens: false) { bench in
            let answer = try await bench.request(.get, "/api/push-keys", by: nil, contentType: nil)
            #expect(answer.status == .notFound)
        }
    }

    private func withFile<Value>(_ body: (String) throws -> Value) throws -> Value {
        let path = FileManager.default.temporaryDirectory.appending(path: "push-keys-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try body(path)
    }

    @Test func `A changed file is shown and an unusable one is not`() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "push-keys-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        func write(_ text: String) throws {
            try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
        }
        let keys = PushVerificationKeys(PushSigningKey().publicKey)
        try write(keys.jwks)
        let file = try PushKeysFile(path: path, logger: .silent)
        #expect(file.document == Array(keys.jwks.utf8))
        let rotated = keys.adding(PushSigningKey().publicKey)
        try write(rotated.jwks)
        try await file.source.reload()
        #expect(file.document == Array(rotated.jwks.utf8))
        // The document has the bytes of the file, also if another tool wrote it.
        let (x, y) = ("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0")
        let written = #"{ "keys": [{"y":"\#(y)","x":"\#(x)","crv":"P-256","kty":"EC","key_ops":["verify"]}] }"#
        try write(written)
        try await file.source.reload()
        #expect(file.document == Array(written.utf8))
        try write("{}")
        await #expect(throws: FileError.self) { try await file.source.reload() }
        #expect(file.document == Array(written.utf8))
        #expect(file.source.problem()?.contains("The last valid content stays in use.") == true)
    }

    /// The file may hold what everybody may read, and nothing else.
    @Test func `A private key is refused at the start`() throws {
        try withFile { path in
            let key =
                #"{"keys":[{"kty":"EC","crv":"P-256","d":"jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI","#
                + #""x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}"#
            try Data(key.utf8).write(to: URL(filePath: path))
            let error = #expect(throws: ConfigurationError.self) {
                try ConfigurationKeys.pushVerificationKeysFile.making {
                    try PushKeysFile(path: path, logger: .silent)
                }
            }
            #expect(error.map { "\($0)".contains("PUSH_VERIFICATION_KEYS_FILE") } ?? false)
            #expect(error.map { !"\($0)".contains("jpsQnn") } ?? false)
        }
    }
}
