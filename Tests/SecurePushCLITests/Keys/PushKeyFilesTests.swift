import Domain
import Foundation
import Foundations
import TestSupport
import Testing

@testable import SecurePushCLI

@Suite struct PushKeyFilesTests {
    private func withFiles<Value>(_ body: (PushKeyFiles) async throws -> Value) async throws -> Value {
        try await withTemporaryFolder { folder in
            try await body(PushKeyFiles(signing: folder + "/private.pem", verification: folder + "/public.json"))
        }
    }

    private func signingKey(_ files: PushKeyFiles) throws -> PushSigningKey {
        try PushSigningKey(pem: try SecretFile.read(files.signing))
    }

    @Test func `Both files are made, and only the owner can read the private key`() async throws {
        try await withFiles { files in
            let report = try files.generate()
            let key = try signingKey(files).publicKey
            #expect(report.files == [files.signing, files.verification] && report.signing == key.keyID)
            #expect(try PushKeyFiles.publicKeys(files.verification).keys == [key])
            #expect(SecretFile.mode(files.signing) == 0o600 && SecretFile.mode(files.verification) == 0o644)
        }
    }

    @Test(arguments: [["--signing-key", "private.pem", "--jwks", "public.json"], ["--sender"]])
    func `Everybody can read the public keys, and only the owner the private one`(options: [String]) async throws {
        try await withTemporaryFolder { folder in
            let made = try await CommandLineRun(["keys", "generate"] + options, [:], in: folder)
            let names = options.count > 1 ? ["private.pem", "public.json"] : ["sender-key.pem", "sender-keys.json"]
            #expect(made.code == 0, "\(made.errors)")
            #expect(names.map { SecretFile.mode("\(folder)/\($0)") } == [0o600, 0o644])
        }
    }

    @Test func `A file that exists is never overwritten`() async throws {
        try await withFiles { files in
            try SecretFile.create(files.verification, "mine")
            let failure = #expect(throws: CommandFailure.self) { try files.generate() }
            #expect(failure?.code == .failed)
            #expect(!SecretFile.exists(files.signing))
            #expect(try SecretFile.read(files.verification) == "mine")
        }
    }

    @Test func `After a rotation the new key is first, and pushes of the old one are still valid`() async throws {
        try await withFiles { files in
            _ = try files.generate()
            let old = try signingKey(files)
            let report = try files.rotate(keep: nil)
            let new = try signingKey(files)
            let keys = try PushKeyFiles.publicKeys(files.verification)
            #expect(keys.keys == [new.publicKey, old.publicKey])
            #expect(report.signing == new.publicKey.keyID && report.removed.isEmpty)
            #expect(SecretFile.mode(files.signing) == 0o600)
            let (id, alice) = (NotificationID(), try #require(UserName("alice")))
            for key in [old, new] {
                let signature = try #require(PushSigner(key: key).sign(id, for: alice, now: .now))
                #expect(keys.isValid(signature, of: id, recipient: alice))
            }
        }
    }

    @Test func `The oldest public keys are dropped on request`() async throws {
        try await withFiles { files in
            _ = try files.generate()
            let first = try signingKey(files).publicKey
            _ = try files.rotate(keep: nil)
            let second = try signingKey(files).publicKey
            let report = try files.rotate(keep: 2)
            #expect(report.removed == [first.keyID])
            #expect(try PushKeyFiles.publicKeys(files.verification).keys.dropFirst() == [second])
        }
    }

    @Test func `The old key's public part comes from the private key if the set is missing`() async throws {
        try await withFiles { files in
            _ = try files.generate()
            let old = try signingKey(files).publicKey
            try FileManager.default.removeItem(atPath: files.verification)
            _ = try files.rotate(keep: nil)
            #expect(try PushKeyFiles.publicKeys(files.verification).keys.map(\.keyID).last == old.keyID)
        }
    }

    @Test(arguments: ["no key", ""])
    func `A rotation of an unusable file changes nothing`(text: String) async throws {
        try await withFiles { files in
            try SecretFile.create(files.signing, text)
            let failure = #expect(throws: CommandFailure.self) { try files.rotate(keep: nil) }
            #expect(failure?.code == .configuration)
            #expect(!SecretFile.exists(files.verification))
            #expect(try FileContent(path: files.signing).text == text + "\n")
        }
    }
}
