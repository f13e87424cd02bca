import Crypto
import Domain
import Foundation
import Logging
import TestSupport
import Testing

struct FingerprintTests {
    private let logger = Logger(label: "FingerprintTests") { _ in SwiftLogNoOpLogHandler() }
    private let text = [UInt8]("a short secret".utf8)
    private let context = [UInt8]("clinic".utf8)

    private func withSealer(_ lines: [String], _ body: (PayloadSealer, String) throws -> Void) throws {
        try withTemporaryPath { path in
            try write(lines.joined(separator: "\n"), to: path)
            try body(try PayloadSealer(path: path, logger: logger), path)
        }
    }

    @Test func `A fingerprint is that of its text in its context and of nothing else`() throws {
        try withSealer([PayloadKeyRing.newLine(id: "k1")]) { sealer, _ in
            let fingerprint = sealer.fingerprint(of: text, context: context)
            #expect(sealer.isFingerprint(fingerprint, of: text, context: context) == true)
            #expect(sealer.isFingerprint(fingerprint, of: text + [0], context: context) == false)
            #expect(sealer.isFingerprint(fingerprint, of: [], context: context) == false)
            #expect(sealer.isFingerprint(fingerprint, of: text, context: []) == false)
            // Bytes that move from the one to the other make another pair.
            #expect(
                sealer.isFingerprint(fingerprint, of: Array(text.dropFirst()), context: context + text.prefix(1))
                    == false)
            for index in fingerprint.indices.suffix(32) {
                var changed = fingerprint
                changed[index] ^= 1
                #expect(sealer.isFingerprint(changed, of: text, context: context) == false)
            }
        }
    }

    @Test func `It is the key's ID and 32 bytes that neither the text nor the key alone explains`() throws {
        let line = PayloadKeyRing.newLine(id: "k1")
        try withSealer([line]) { sealer, _ in
            let fingerprint = sealer.fingerprint(of: text, context: context)
            #expect(fingerprint.count == 2 + 32)
            #expect(fingerprint.starts(with: Array("k1".utf8)))
            let key = try #require(Data(base64Encoded: String(line.dropFirst(3))))
            let mac = Array(fingerprint.suffix(32))
            #expect(mac != Array(SHA256.hash(data: text)))
            #expect(mac != Array(HMAC<SHA256>.authenticationCode(for: text, using: SymmetricKey(data: key))))
            #expect(sealer.fingerprint(of: text, context: []) != fingerprint)
            #expect(sealer.fingerprint(of: text, context: context) == fingerprint)
        }
    }

    @Test func `After a rotation the key that made it still compares it, until that key is gone`() throws {
        let (old, new) = (PayloadKeyRing.newLine(id: "old"), PayloadKeyRing.newLine(id: "new"))
        var fingerprint: [UInt8] = []
        try withSealer([old]) { sealer, _ in fingerprint = sealer.fingerprint(of: text, context: context) }
        try withSealer([new, old]) { sealer, _ in
            #expect(sealer.isFingerprint(fingerprint, of: text, context: context) == true)
            #expect(sealer.isFingerprint(fingerprint, of: [1], context: context) == false)
            #expect(sealer.fingerprint(of: text, context: context).starts(with: Array("new".utf8)))
        }
        try withSealer([new]) { sealer, _ in
            #expect(sealer.isFingerprint(fingerprint, of: text, context: context) == nil)
        }
        // Another key under the same ID makes it another's.
        try withSealer([PayloadKeyRing.newLine(id: "old")]) { sealer, _ in
            #expect(sealer.isFingerprint(fingerprint, of: text, context: context) == false)
        }
    }

    @Test func `One that another process made with a key added a moment ago is compared at once`() throws {
        let (old, new) = (PayloadKeyRing.newLine(id: "old"), PayloadKeyRing.newLine(id: "new"))
        try withSealer([old]) { sealer, path in
            try write("\(new)\n\(old)", to: path)
            let other = try PayloadSealer(path: path, logger: logger)
            let fingerprint = other.fingerprint(of: text, context: context)
            #expect(sealer.isFingerprint(fingerprint, of: text, context: context) == true)
        }
    }

    @Test(arguments: [[], [UInt8]("k1".utf8), [UInt8](repeating: 0, count: 32)])
    func `What is no fingerprint is nobody's`(_ bytes: [UInt8]) throws {
        try withSealer([PayloadKeyRing.newLine(id: "k1")]) { sealer, _ in
            #expect(sealer.isFingerprint(bytes, of: text, context: context) == nil)
        }
    }
}
