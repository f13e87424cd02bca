import Foundation
import SecurePushEnvelope
import Testing

@Suite struct EnvelopeTests {
    private let content = Data(#"{"code":4711,"text":"sécret"}"#.utf8)

    /// The content, as a device that has opened nothing yet reads it now.
    private func open(
        _ payload: String, for recipient: String = "alice", device: String = "a", with key: EnvelopeSoftwareKey?,
        senderKeys: SenderKeys? = nil
    ) throws -> Data {
        let envelope = try #require(try Envelope(payload: payload))
        let opened = try envelope.open(
            for: recipient, device: device, with: key.map { [$0] } ?? [], senderKeys: senderKeys)
        try opened.verify(wasOpenedBefore: false, now: Int(Date().timeIntervalSince1970))
        return opened.content
    }

    private func isPlain(_ payload: String) -> Bool {
        do { return try Envelope(payload: payload) == nil } catch { return false }
    }

    @Test func everyDeviceOpensTheEnvelope() throws {
        let keys = Dictionary(uniqueKeysWithValues: (0..<5).map { ("device-\($0)", EnvelopeSoftwareKey()) })
        let payload = try Envelope.seal(content, for: "alice", devices: keys.mapValues(\.publicKey))
        #expect(!payload.contains("4711"))
        for (device, key) in keys {
            #expect(try open(payload, device: device, with: key) == content)
        }
    }

    @Test func twoEnvelopesOfOneContentDiffer() throws {
        let devices = ["a": EnvelopeSoftwareKey().publicKey]
        let payloads = try (0..<50).map { _ in try Envelope.seal(content, for: "alice", devices: devices) }
        #expect(Set(payloads).count == 50)
    }

    /// "yes" and "no" cannot be told apart by their lengths.
    @Test func shortContentsHaveOneLength() throws {
        let devices = ["a": EnvelopeSoftwareKey().publicKey]
        let lengths = try [#""no""#, #""yes""#, #""The code is 4711.""#].map { json in
            try Envelope.seal(Data(json.utf8), for: "alice", devices: devices).utf8.count
        }
        #expect(Set(lengths).count == 1)
    }

    @Test func aDeviceThatIsNotAmongTheKeysIsToldSo() throws {
        let key = EnvelopeSoftwareKey()
        let payload = try Envelope.seal(content, for: "alice", devices: ["a": key.publicKey])
        #expect(throws: EnvelopeError.notForThisDevice) { try open(payload, device: "b", with: key) }
        #expect(throws: EnvelopeError.notForThisDevice) { try open(payload, with: nil) }
    }

    @Test func anotherKeyOrRecipientOpensNothing() throws {
        let key = EnvelopeSoftwareKey()
        let payload = try Envelope.seal(content, for: "alice", devices: ["a": key.publicKey])
        #expect(throws: EnvelopeError.unopenable) { try open(payload, with: EnvelopeSoftwareKey()) }
        for name in ["bob", "Alice", "alice ", ""] {
            #expect(throws: EnvelopeError.unopenable) { try open(payload, for: name, with: key) }
        }
    }

    /// Every character of every value is changed once.
    @Test func everyChangeIsNoticed() throws {
        let (key, sender) = (EnvelopeSoftwareKey(), SenderKey())
        let payload = try Envelope.seal(content, for: "alice", devices: ["a": key.publicKey], signedBy: sender)
        let senders = try SenderKeys(jwkSet: Data(sender.jwkSet.utf8))
        #expect(try open(payload, with: key, senderKeys: senders) == content)
        var changes = 0
        for index in payload.indices where payload[index].isLetter || payload[index].isNumber {
            var changed = payload
            changed.replaceSubrange(index...index, with: payload[index] == "A" ? "B" : "A")
            // Without its name it is no envelope.
            if !isPlain(changed) {
                #expect(throws: EnvelopeError.self) { try open(changed, with: key, senderKeys: senders) }
            }
            changes += 1
        }
        #expect(changes > 150)
    }

    @Test func hostileTextsAreRefused() throws {
        let texts = [
            "", "{", #"{"e2e":2}"#, #"{"e2e":2,"keys":{},"iv":"","ct":""}"#,
            #"{"e2e":2,"keys":[],"iv":"AAAAAAAAAAAAAAAA","ct":"AAAAAAAAAAAAAAAAAAAAAA"}"#,
            #"{"e2e":2,"keys":{"a":{"enc":"","ct":""}},"iv":"AAAAAAAAAAAAAAAA","ct":"AAAAAAAAAAAAAAAAAAAAAA"}"#,
            #"{"e2e":1e400,"keys":{},"iv":"AAAAAAAAAAAAAAAA","ct":"AAAAAAAAAAAAAAAAAAAAAA"}"#,
            String(repeating: "[", count: 100_000), String(repeating: " ", count: 3 << 20),
        ]
        for text in texts {
            #expect(throws: EnvelopeError.unopenable) { try Envelope(payload: text) }
        }
    }

    @Test func plainPayloadsAreNoEnvelopes() throws {
        for text in [#""text""#, "7", "null", "[]", "{}", #"{"E2E":2}"#, #"{"ct":""}"#, #"["e2e","ct"]"#] {
            #expect(try Envelope(payload: text) == nil)
        }
    }

    @Test func whatNoDeviceWouldShowIsNotSealed() throws {
        let devices = ["a": EnvelopeSoftwareKey().publicKey]
        #expect(throws: EnvelopeError.wrongNumberOfDevices) {
            try Envelope.seal(content, for: "alice", devices: [:])
        }
        #expect(throws: EnvelopeError.tooLong) {
            try Envelope.seal(Data(count: Envelope.maxContentBytes + 1), for: "alice", devices: devices)
        }
        // The content is within an object, so 31 levels are left for it.
        let deep = String(repeating: "[", count: 32) + String(repeating: "]", count: 32)
        for text in ["", "secret", "1 2", #"{"a":1,"a":2}"#, #""\ud800""#, deep, "1,\"content\":2"] {
            #expect(throws: EnvelopeError.notJSON) {
                try Envelope.seal(Data(text.utf8), for: "alice", devices: devices)
            }
        }
    }

    @Test func onlyTheConfiguredSendersAreBelieved() throws {
        let (key, sender, stranger) = (EnvelopeSoftwareKey(), SenderKey(), SenderKey())
        let senders = try SenderKeys(jwkSet: Data(sender.jwkSet.utf8))
        let devices = ["a": key.publicKey]
        let signed = try Envelope.seal(content, for: "alice", devices: devices, signedBy: sender)
        #expect(try open(signed, with: key, senderKeys: senders) == content)
        let forged = try Envelope.seal(content, for: "alice", devices: devices, signedBy: stranger)
        let claimed = try Envelope.seal(
            content, for: "alice", devices: devices, signedBy: SenderKey(pem: stranger.pem, id: sender.id))
        let unsigned = try Envelope.seal(content, for: "alice", devices: devices)
        for payload in [forged, claimed, unsigned] {
            #expect(throws: EnvelopeError.wrongSender) { try open(payload, with: key, senderKeys: senders) }
            #expect(try open(payload, with: key) == content)
        }
    }

    @Test func timesAreChecked() throws {
        let key = EnvelopeSoftwareKey()
        let expiry = Date(timeIntervalSinceNow: 100)
        let payload = try Envelope.seal(
            content, for: "alice", devices: ["a": key.publicKey], expiresAt: expiry)
        let opened = try #require(try Envelope(payload: payload)).open(for: "alice", device: "a", with: [key])
        let (created, expires) = (opened.createdAt, try #require(opened.expiresAt))
        #expect(expires == Int(expiry.timeIntervalSince1970))
        #expect(throws: Never.self) { try opened.verify(wasOpenedBefore: false, now: expires - 1) }
        #expect(throws: EnvelopeError.expired) { try opened.verify(wasOpenedBefore: false, now: expires) }
        #expect(throws: EnvelopeError.replayed) { try opened.verify(wasOpenedBefore: true, now: expires) }
        #expect(throws: Never.self) { try opened.verify(wasOpenedBefore: false, now: created - 86_400) }
        #expect(throws: EnvelopeError.replayed) { try opened.verify(wasOpenedBefore: false, now: created - 86_401) }
        #expect(throws: EnvelopeError.replayed) { try opened.verify(wasOpenedBefore: false, now: created + 7_776_001) }
    }
}
