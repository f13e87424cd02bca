import Foundation
import Testing

@testable import SecurePushClient

@Suite struct AnswerReaderTests {
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
        #expect(try payload(#""a\"\\\/\b\f\n\r\tA€𝄞\ud834""#).text == "a\"\\/\u{8}\u{C}\n\r\tA€𝄞\u{FFFD}")
        #expect(try payload("\"plain\"").text == "plain")
        #expect(try payload("\"plain\"").wasRead)
    }

    @Test(arguments: [
        "01", "1.", ".5", "+1", "1e", "tru", "nul", "\"", "\"\\x\"", "\"\\u00g0\"", "\"\u{1}\"", "[1,]", "[1 2]",
        "{\"a\"}", "{\"a\":}", "{a:1}", "{\"a\":1,}", "[", "{", "]", "",
    ])
    func otherTextsAreRefused(_ json: String) {
        #expect(throws: InvalidAnswer.self) { try payload(json) }
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
