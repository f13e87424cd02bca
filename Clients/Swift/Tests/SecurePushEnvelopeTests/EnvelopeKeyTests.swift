import Foundation
import SecurePushEnvelope
import Testing

@Suite struct EnvelopeKeyTests {
    @Test func aKeyIsReadAsItIsWritten() throws {
        let key = EnvelopeSoftwareKey().publicKey
        #expect(try EnvelopeKey(jwk: Data(key.jwk.utf8)) == key)
        #expect(try EnvelopeKey(x963Representation: key.x963Representation) == key)
    }

    /// The numbers are those of Python's `cryptography`, with the scalar 1: the generator of the group.
    @Test func theFingerprintIsThatOfTheThumbprint() throws {
        let key = try EnvelopeSoftwareKey(rawRepresentation: Data(repeating: 0, count: 31) + [1]).publicKey
        #expect(key.fingerprint == "c71d 0170 0fb0 3288 70f1 ab58 0c93 9eea")
    }

    @Test func otherKeysAreRefused() throws {
        let key = EnvelopeSoftwareKey().publicKey
        let zero = String(repeating: "A", count: 43)
        let members = key.jwk.dropFirst().dropLast()
        let texts = [
            "", "{}", #"{"kty":"EC","crv":"P-256"}"#, #"{"kty":"EC","crv":"P-256","x":"AAAA","y":"AAAA"}"#,
            #"{"kty":"EC","crv":"P-256","x":"\#(zero)","y":"\#(zero)"}"#,
            #"{"kty":"OKP","crv":"X25519","x":"CQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}"#,
            "{\(members),\"d\":\"AA\"}", "{\(members),\"d\":null}", "{\(members),\"kty\":\"EC\"}", "{\(members),}",
            key.jwk.replacingOccurrences(of: "P-256", with: "P-384"), key.jwk + "x",
        ]
        for text in texts {
            #expect(throws: EnvelopeError.malformedKey, "\(text)") { try EnvelopeKey(jwk: Data(text.utf8)) }
        }
        for bytes in [Data(), key.x963Representation.dropLast(), Data([6]) + key.x963Representation.dropFirst()] {
            #expect(throws: EnvelopeError.malformedKey) { try EnvelopeKey(x963Representation: bytes) }
        }
    }

    @Test func aPrivateKeyShowsInNoDescription() {
        let (key, sender) = (EnvelopeSoftwareKey(), SenderKey())
        var text = "\(key) \(String(reflecting: key)) \(sender) \(String(reflecting: sender))"
        dump(key, to: &text)
        dump(sender, to: &text)
        #expect(!text.contains(key.rawRepresentation.base64EncodedString()) && !text.contains("raw"))
        #expect(!text.contains("BEGIN"))
    }

    @Test func aSendersKeyIsReadAsItIsWritten() throws {
        let sender = SenderKey()
        #expect(try SenderKey(pem: sender.pem).publicKey == sender.publicKey)
        #expect(try SenderKey(pem: sender.pem).id == sender.id)
        #expect(try SenderKey(pem: sender.pem, id: "a \"b\"").jwkSet.contains(#""kid":"a \"b\"""#))
        for (pem, id) in [("", nil), (sender.pem, ""), (sender.pem, String(repeating: "x", count: 129))] {
            #expect(throws: EnvelopeError.malformedKey) { try SenderKey(pem: pem, id: id) }
        }
    }
}
