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
        let devices = ["phone": EnvelopeSoftwareKey(), "Browser.1": EnvelopeSoftwareKey()]
        let keys = try RecipientKeys(answer: answer(devices.map { ($0.key, $0.value.publicKey.jwk) }))
        #expect(keys.devices == devices.mapValues(\.publicKey) && keys.unusable.isEmpty)
        let payload = try keys.seal(content, for: "alice")
        for (device, key) in devices {
            let envelope = try #require(try Envelope(payload: payload))
            #expect(try envelope.open(for: "alice", device: device, with: [key]).content == content)
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
        #"{"kty":"EC","crv":"P-384","x":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","y":"AA"}"#,
    ])
    func keysOfOtherKindsAreLeftOut(_ other: String) throws {
        let key = EnvelopeSoftwareKey()
        let keys = try RecipientKeys(answer: answer([("a", other), ("b", key.publicKey.jwk)]))
        #expect(keys.devices == ["b": key.publicKey] && keys.unusable == ["a"])
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"Keys":{}}"#, #"{"Keys":[1]}"#, #"{"Keys":[{}]}"#, #"{"Keys":[{"DeviceId":1}]}"#,
        #"{"Keys":[{"DeviceId":"a b"}]}"#, #"{"Keys":[],"Keys":[]}"#,
        #"{"type":"about:blank","status":404}"#,
    ])
    func otherAnswersAreRefused(_ text: String) {
        #expect(throws: EnvelopeError.malformedAnswer) { try RecipientKeys(answer: Data(text.utf8)) }
    }

    @Test func aDeviceThatIsListedTwiceIsAMistake() throws {
        let jwk = EnvelopeSoftwareKey().publicKey.jwk
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
