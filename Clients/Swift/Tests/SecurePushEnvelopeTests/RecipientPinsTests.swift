import Foundation
import SecurePushEnvelope
import Testing

@Suite struct RecipientPinsTests {
    private func keys(_ devices: [String: EnvelopeSoftwareKey]) throws -> RecipientKeys {
        let entries = devices.map { #"{"DeviceId":"\#($0.key)","Key":\#($0.value.publicKey.jwk)}"# }
        return try RecipientKeys(answer: Data(#"{"Keys":[\#(entries.joined(separator: ","))]}"#.utf8))
    }

    @Test func theFirstUseIsTrustedAndLaterChangesAreTold() throws {
        let (phone, tablet, renewed) = (EnvelopeSoftwareKey(), EnvelopeSoftwareKey(), EnvelopeSoftwareKey())
        var pins = RecipientPins()
        #expect(pins.changes(try keys(["phone": phone]), of: "alice").isEmpty)
        pins.accept(try keys(["phone": phone]), of: "alice")
        #expect(pins.changes(try keys(["phone": phone]), of: "alice").isEmpty)

        let now = try keys(["phone": renewed, "tablet": tablet])
        let changes = pins.changes(now, of: "alice")
        #expect(changes.map(\.device) == ["phone", "tablet"])
        #expect(changes.map(\.former) == [phone.publicKey.fingerprint, nil])
        #expect(changes.map(\.current) == [renewed.publicKey.fingerprint, tablet.publicKey.fingerprint])
        pins.accept(now, of: "alice")
        #expect(pins.changes(now, of: "alice").isEmpty)
    }

    /// A device that returns must have its old key.
    @Test func aDeviceThatIsGoneIsNoChangeAndIsRemembered() throws {
        let (phone, tablet, other) = (EnvelopeSoftwareKey(), EnvelopeSoftwareKey(), EnvelopeSoftwareKey())
        var pins = RecipientPins()
        pins.accept(try keys(["phone": phone, "tablet": tablet]), of: "alice")
        #expect(pins.changes(try keys(["phone": phone]), of: "alice").isEmpty)
        pins.accept(try keys(["phone": phone]), of: "alice")
        #expect(pins.changes(try keys(["tablet": tablet]), of: "alice").isEmpty)
        #expect(pins.changes(try keys(["tablet": other]), of: "alice").count == 1)
    }

    /// Names of users are bytes: both forms of "é" are different users.
    @Test func theFileIsReadAsItIsWritten() throws {
        var pins = RecipientPins()
        for name in ["alice", "\u{e9}", "e\u{301}", "a \"b\"\n\\"] {
            pins.accept(try keys(["phone": EnvelopeSoftwareKey()]), of: name)
        }
        let read = try RecipientPins(json: pins.json)
        #expect(read == pins && read.json == pins.json)
        #expect(read.changes(try keys(["phone": EnvelopeSoftwareKey()]), of: "e\u{301}").count == 1)
        #expect(try RecipientPins(json: RecipientPins().json) == RecipientPins())
    }

    @Test(arguments: [
        "", "{}", #"{"pins":1}"#, #"{"pins":2,"recipients":{}}"#, #"{"pins":1,"recipients":{"a":{"d":"AA"}}}"#,
        #"{"pins":1,"recipients":{"a":{}}}"#, #"{"pins":1,"recipients":{"a":[]}}"#,
        #"{"pins":1,"recipients":{"a":{"d e":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}}}"#,
        #"{"pins":1,"recipients":{},"recipients":{}}"#,
    ])
    func otherFilesAreRefused(_ text: String) {
        #expect(throws: EnvelopeError.malformedAnswer) { try RecipientPins(json: Data(text.utf8)) }
    }
}
