import Domain
import Foundations
import Logging
import TestSupport
import Testing

struct PushSignerTests {
    private let alice = UserName("alice")!
    private let bob = UserName("bob")!
    private let id = NotificationID()
    private let now = Timestamp(milliseconds: 1_790_000_000_999)
    private let logger = Logger(label: "PushSignerTests") { _ in SwiftLogNoOpLogHandler() }

    @Test func `The text is the one of the contract`() throws {
        let id = try #require(NotificationID("01234567-89ab-7def-8123-456789abcdef"))
        let name = try #require(UserName("Zoë \u{1F511}"))
        let start = "securepush-push-v1\n01234567-89ab-7def-8123-456789abcdef\nZoë \u{1F511}\n1790000000\n"
        #expect(PushSignature.signedText(id, recipient: name, timestamp: 1_790_000_000) == Array(start.utf8))
        #expect(
            PushSignature.signedText(id, recipient: name, timestamp: 1_790_000_000, withdraw: true)
                == Array((start + "withdraw\n").utf8))
    }

    @Test func `The public key verifies it, and nothing else that differs in one value`() throws {
        let key = PushSigningKey()
        let keys = PushVerificationKeys(PushSigningKey().publicKey).adding(key.publicKey)
        let signature = try #require(PushSigner(key: key).sign(id, for: alice, now: now))
        #expect(signature.timestamp == 1_790_000_000 && signature.signature.utf8.count == 86)
        #expect(keys.isValid(signature, of: id, recipient: alice))
        #expect(!keys.isValid(signature, of: id, recipient: alice, withdraw: true))
        #expect(!keys.isValid(signature, of: id, recipient: bob))
        #expect(!keys.isValid(signature, of: NotificationID(), recipient: alice))
        let later = PushSignature(timestamp: signature.timestamp + 1, signature: signature.signature)
        #expect(!keys.isValid(later, of: id, recipient: alice))
        #expect(!PushVerificationKeys(PushSigningKey().publicKey).isValid(signature, of: id, recipient: alice))
        // The last one has no r and no s.
        let texts = ["", "!", String(signature.signature.dropLast()), signature.signature + "="]
        for text in texts + [Base64.encode([UInt8](repeating: 0, count: 64), .url)] {
            let forged = PushSignature(timestamp: signature.timestamp, signature: text)
            #expect(!keys.isValid(forged, of: id, recipient: alice))
        }
    }

    @Test func `A withdrawal has a signature of its own`() throws {
        let key = PushSigningKey()
        let signature = try #require(PushSigner(key: key).sign(id, for: alice, withdraw: true, now: now))
        #expect(key.publicKey.isValid(signature, of: id, recipient: alice, withdraw: true))
        #expect(!key.publicKey.isValid(signature, of: id, recipient: alice))
    }

    @Test
    func `A changed file is used, and while it cannot be used the last key signs and operators see why`() async throws {
        let path = temporaryPath()
        defer { removeFile(path) }
        let (first, second) = (PushSigningKey(), PushSigningKey())
        try write(first.pem, to: path)
        let signer = try PushSigner(path: path, logger: logger)
        let source = try #require(signer.source)
        #expect(source.key == "PUSH_SIGNING_KEY_FILE")
        try write("no key", to: path)
        await #expect(throws: FileError.self) { try await source.reload() }
        var signature = try #require(signer.sign(id, for: alice, now: now))
        #expect(first.publicKey.isValid(signature, of: id, recipient: alice))
        try write(second.pem, to: path)
        try await source.reload()
        signature = try #require(signer.sign(id, for: alice, now: now))
        #expect(second.publicKey.isValid(signature, of: id, recipient: alice))
        removeFile(path)
        await #expect(throws: FileError.self) { try await source.reload() }
        #expect(source.problem()?.hasSuffix("The last valid content stays in use.") ?? false)
        signature = try #require(signer.sign(id, for: alice, now: now))
        #expect(second.publicKey.isValid(signature, of: id, recipient: alice))
    }

    @Test func `At the start an unusable file is refused`() throws {
        try withTemporaryPath { path in
            let missing = #expect(throws: FileError.self) { try PushSigner(path: path, logger: logger) }
            #expect(missing?.code == .missing)
            try write("secret", to: path)
            let malformed = #expect(throws: FileError.self) { try PushSigner(path: path, logger: logger) }
            #expect(malformed?.code == .malformed)
            #expect(malformed.map { !"\($0)".contains("secret") } ?? false)
        }
    }
}
