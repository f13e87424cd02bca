import Foundation
import Testing

@testable import SecurePushClient

@Suite struct AnswerObjectTests {
    private func payload(_ json: String) throws -> SecretNotification {
        let id = try #require(PushID("01"))
        return try SecretAnswer(
            Data("{\"Id\":\"01\",\"Payload\":\(json),\"Read\":true,\"Unread\":3}".utf8), for: id
        ).secret
    }

    @Test(arguments: [
        "null", "true", "-0.5e+10", "0", "[]", "{}", "[1, {\"a\":null}]", "\"\"", "\"ä€𝄞\"", "\"\\u0041\\n\\\"\"",
    ])
    func theTextOfAPayloadIsKept(_ json: String) throws {
        #expect(try payload(json).json == json)
    }

    @Test func stringsAreUnescaped() throws {
        #expect(try payload(#""a\"\\\/\b\f\n\r\tA€𝄞\ud834\udd1e""#).text == "a\"\\/\u{8}\u{C}\n\r\tA€𝄞𝄞")
        #expect(try payload("\"plain\"").text == "plain")
        #expect(try payload("\"plain\"").wasRead)
    }

    @Test(arguments: [
        "01", "1.", ".5", "+1", "1e", "tru", "nul", "\"", "\"\\x\"", "\"\\u00g0\"", "\"\u{1}\"", "[1,]", "[1 2]",
        "{\"a\"}", "{\"a\":}", "{a:1}", "{\"a\":1,}", "[", "{", "]", "", #""\ud834""#, #""\udd1e""#, #""\ud834\u0041""#,
        #"["\q"]"#, #"{"\u12":1}"#, #"{"\ud834":1}"#,
    ])
    func otherTextsAreRefused(_ json: String) {
        #expect(throws: InvalidAnswer.self) { try payload(json) }
    }

    @Test(arguments: [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE2, 0x82]])
    func textThatIsNotUTF8IsRefused(_ bytes: [UInt8]) throws {
        let id = try #require(PushID("01"))
        let body = Data(#"{"Id":"01","Payload":""#.utf8) + bytes + Data(#""}"#.utf8)
        #expect(throws: InvalidAnswer.self) { try SecretAnswer(body, for: id) }
        let mark = Data([0xEF, 0xBB, 0xBF]) + Data(#"{"Id":"01","Payload":""}"#.utf8)
        #expect(throws: InvalidAnswer.self) { try SecretAnswer(mark, for: id) }
    }

    /// They differ in their bytes, so they are two members.
    @Test func namesAreComparedByteForByte() throws {
        let id = try #require(PushID("01"))
        let body = #"{"Id":"01","Payload":"x","é":1,"e\#u{301}":2}"#
        #expect(try SecretAnswer(Data(body.utf8), for: id).secret.text == "x")
        #expect(throws: InvalidAnswer.self) {
            try SecretAnswer(Data(#"{"Id":"01","Payload":1,"Id":"01"}"#.utf8), for: id)
        }
    }

    @Test func deepNestingIsRefused() throws {
        let deep = String(repeating: "[", count: 100_000)
        #expect(throws: InvalidAnswer.self) { try payload(deep) }
        let allowed = String(repeating: "[", count: 128) + String(repeating: "]", count: 128)
        #expect(try payload(allowed).json == allowed)
    }

    @Test func aPageIsBounded() throws {
        let entry = "{\"Id\":\"01\",\"Read\":false}"
        let page = { (count: Int) in
            Data(
                "{\"Notifications\":[\(Array(repeating: entry, count: count).joined(separator: ","))],\"Unread\":1}"
                    .utf8)
        }
        #expect(try InboxAnswer(page(200)).entries.count == 200)
        #expect(throws: InvalidAnswer.self) { try InboxAnswer(page(201)) }
        #expect(throws: InvalidAnswer.self) { try InboxAnswer(Data("{\"Notifications\":[],\"Unread\":-1}".utf8)) }
        #expect(throws: InvalidAnswer.self) {
            try InboxAnswer(Data("{\"Notifications\":[{\"Id\":\"../x\"}],\"Unread\":1}".utf8))
        }
    }
}
