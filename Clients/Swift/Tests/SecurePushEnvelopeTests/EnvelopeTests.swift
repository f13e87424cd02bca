import Foundation
import SecurePushEnvelope
import Testing

@Suite struct EnvelopeTests {
    private let content = Data(#"{"code":4711,"text":"sécret"}"#.utf8)

    @Test func everyDeviceOpensTheEnvelope() throws {
        let keys = Dictionary(uniqueKeysWithValues: (0..<5).map { ("device-\($0)", EnvelopePrivateKey()) })
        let payload = try Envelope.seal(content, for: "alice", devices: keys.mapValues(\.publicKey))
        #expect(Envelope.isEnvelope(payload))
        #expect(!payload.contains("4711"))
        for (device, key) in keys {
            #expect(try Envelope.open(payload, for: "alice", device: device, with: key) == content)
        }
    }

    @Test func twoEnvelopesOfOneContentDiffer() throws {
        let devices = ["a": EnvelopePrivateKey().publicKey]
        let payloads = try (0..<50).map { _ in try Envelope.seal(content, for: "alice", devices: devices) }
        #expect(Set(payloads).count == 50)
    }

    @Test func aDeviceThatIsNotAmongTheKeysIsToldSo() throws {
        let key = EnvelopePrivateKey()
        let payload = try Envelope.seal(content, for: "alice", devices: ["a": key.publicKey])
        #expect(throws: EnvelopeError.notForThisDevice) {
            try Envelope.open(payload, for: "alice", device: "b", with: key)
        }
        #expect(throws: EnvelopeError.notForThisDevice) {
            try Envelope.open(payload, for: "alice", device: "a", with: nil)
        }
    }

    @Test func anotherKeyOrRecipientOpensNothing() throws {
        let key = EnvelopePrivateKey()
        let payload = try Envelope.seal(content, for: "alice", devices: ["a": key.publicKey])
        #expect(throws: EnvelopeError.unopenable) {
            try Envelope.open(payload, for: "alice", device: "a", with: EnvelopePrivateKey())
        }
        for name in ["bob", "Alice", "alice ", ""] {
            #expect(throws: EnvelopeError.unopenable) {
                try Envelope.open(payload, for: name, device: "a", with: key)
            }
        }
    }

    /// Every character of every value is changed once.
    @Test func everyChangeIsNoticed() throws {
        let key = EnvelopePrivateKey()
        let payload = try Envelope.seal(content, for: "alice", devices: ["a": key.publicKey])
        var changes = 0
        for index in payload.indices where payload[index].isLetter || payload[index].isNumber {
            var changed = payload
            changed.replaceSubrange(index...index, with: payload[index] == "A" ? "B" : "A")
            #expect(throws: EnvelopeError.self) {
                try Envelope.open(changed, for: "alice", device: "a", with: key)
            }
            changes += 1
        }
        #expect(changes > 150)
    }

    @Test func hostileEnvelopesAreRefused() throws {
        let key = EnvelopePrivateKey()
        let texts = [
            "", "{", "[]", "null", "1", #"{"e2e":1}"#, #"{"e2e":2,"keys":{},"iv":"","ct":""}"#,
            #"{"e2e":1,"keys":[],"iv":"AAAAAAAAAAAAAAAA","ct":"AAAAAAAAAAAAAAAAAAAAAA"}"#,
            #"{"e2e":1,"keys":{"a":{"enc":"","ct":""}},"iv":"AAAAAAAAAAAAAAAA","ct":"AAAAAAAAAAAAAAAAAAAAAA"}"#,
            #"{"e2e":1e400,"keys":{},"iv":"AAAAAAAAAAAAAAAA","ct":"AAAAAAAAAAAAAAAAAAAAAA"}"#,
            String(repeating: "[", count: 100_000), String(repeating: " ", count: 3 << 20),
        ]
        for text in texts {
            #expect(throws: EnvelopeError.unopenable) {
                try Envelope.open(text, for: "alice", device: "a", with: key)
            }
        }
    }

    @Test func plainPayloadsAreNoEnvelopes() {
        for text in [#""text""#, "7", "null", "[]", "{}", #"{"e2e":1}"#, #"{"ct":""}"#, #"["e2e","ct"]"#] {
            #expect(!Envelope.isEnvelope(text))
        }
        #expect(Envelope.isEnvelope(#" {"e2e":2,"ct":null}"#))
    }

    @Test func theNumberOfDevicesAndTheLengthAreLimited() throws {
        #expect(throws: EnvelopeError.wrongNumberOfDevices) {
            try Envelope.seal(content, for: "alice", devices: [:])
        }
        let devices = ["a": EnvelopePrivateKey().publicKey]
        #expect(throws: EnvelopeError.tooLong) {
            try Envelope.seal(Data(count: Envelope.maxContentBytes + 1), for: "alice", devices: devices)
        }
    }
}

@Suite struct EnvelopeKeyTests {
    @Test func aKeyIsReadAsItIsWritten() throws {
        let key = EnvelopePrivateKey().publicKey
        #expect(try EnvelopeKey(jwk: Data(key.jwk.utf8)) == key)
    }

    @Test func otherKeysAreRefused() {
        let x = String(repeating: "A", count: 43)
        let low = "4Ot6fDtBuK4WVuP68Z_EatoJjeucMrH9hmIFFl9JuAA"
        let texts = [
            "", "{}", #"{"kty":"OKP","crv":"X25519"}"#, #"{"kty":"OKP","crv":"X25519","x":"AAAA"}"#,
            #"{"kty":"OKP","crv":"Ed25519","x":"CQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}"#,
            #"{"kty":"EC","crv":"X25519","x":"CQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}"#,
            #"{"kty":"OKP","crv":"X25519","x":"CQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","d":"AA"}"#,
            #"{"kty":"OKP","crv":"X25519","x":"\#(x)"}"#, #"{"kty":"OKP","crv":"X25519","x":"\#(low)"}"#,
        ]
        for text in texts {
            #expect(throws: EnvelopeError.malformedKey, "\(text)") { try EnvelopeKey(jwk: Data(text.utf8)) }
        }
    }

    @Test func aPrivateKeyShowsInNoDescription() {
        let key = EnvelopePrivateKey()
        var text = "\(key) \(String(reflecting: key)) "
        dump(key, to: &text)
        #expect(!text.contains(key.rawRepresentation.base64EncodedString()) && !text.contains("raw"))
    }
}
