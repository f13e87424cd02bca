import Foundation
import SecurePushEnvelope
import Testing

@Suite struct RecipientKeysTests {
    private let content = Data(#""The code is 4711.""#.utf8)

    private func answer(_ entries: [(device: String, key: String)]) -> Data {
        let texts = entries.map { entry in
            #"{"DeviceId":"\#(entry.device)","Key":\#(entry.key),"CreatedAt":"2026-11-21T08:30:00.000Z"}"#
        }
        return Data(#"{"Keys":[\#(texts.joined(separator: ","))],"More":1}"#.utf8)
    }

    @Test func theAnswerIsReadAndEveryDeviceOpensWhatIsSealedForIt() throws {
        let devices = ["phone": EnvelopePrivateKey(), "Browser.1": EnvelopePrivateKey()]
        let keys = try RecipientKeys(answer: answer(devices.map { ($0.key, $0.value.publicKey.jwk) }))
        #expect(keys.devices == devices.mapValues(\.publicKey) && keys.unusable.isEmpty)
        let payload = try keys.seal(content, for: "alice")
        for (device, key) in devices {
            #expect(try Envelope.open(payload, for: "alice", device: device, with: key) == content)
        }
    }

    @Test func withoutKeysNothingIsSealed() throws {
        let keys = try RecipientKeys(answer: Data(#"{"Keys":[]}"#.utf8))
        #expect(keys.devices.isEmpty)
        #expect(throws: EnvelopeError.wrongNumberOfDevices) { try keys.seal(content, for: "alice") }
    }

    /// A later version may have keys of other kinds. They must not keep the other devices from reading.
    @Test(arguments: [
        #"{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}"#, #"{"kty":"OKP","crv":"X448","x":"AA"}"#, "null", "1", "[]",
        #"{"kty":"OKP","crv":"X25519","x":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}"#,
    ])
    func keysOfOtherKindsAreLeftOut(_ other: String) throws {
        let key = EnvelopePrivateKey()
        let keys = try RecipientKeys(answer: answer([("a", other), ("b", key.publicKey.jwk)]))
        #expect(keys.devices == ["b": key.publicKey] && keys.unusable == ["a"])
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"Keys":{}}"#, #"{"Keys":[1]}"#, #"{"Keys":[{}]}"#, #"{"Keys":[{"DeviceId":1}]}"#,
        #"{"type":"about:blank","status":404}"#,
    ])
    func otherAnswersAreRefused(_ text: String) {
        #expect(throws: EnvelopeError.malformedAnswer) { try RecipientKeys(answer: Data(text.utf8)) }
    }

    @Test func aDeviceThatIsListedTwiceIsAMistake() throws {
        let jwk = EnvelopePrivateKey().publicKey.jwk
        #expect(throws: EnvelopeError.malformedAnswer) {
            try RecipientKeys(answer: answer([("a", jwk), ("a", jwk)]))
        }
    }

    @Test(arguments: [
        ("alice", "alice"), ("a/b c+d%", "a%2Fb%20c%2Bd%25"), ("é@x.org", "%C3%A9%40x.org"), ("a-b._~", "a-b._~"),
        ("?#", "%3F%23"),
    ])
    func namesArePercentEncoded(_ name: String, _ encoded: String) {
        #expect(RecipientKeys.path(of: name) == "/api/recipients/\(encoded)/keys")
    }
}
