import SecurePushCore
import Testing

@testable import ServiceRuntime

@Suite("Joining JSON texts")
struct JSONMergeTests {
    @Test(arguments: [
        (#"{"a":1}"#, #"{"b":2}"#, #"{"a":1,"b":2}"#),
        (#"{"a":{"x":1,"y":[1]}, "b":1.10}"#, #"{"a":{"y":[],"z":null}}"#, #"{"a":{"x":1,"y":[],"z":null},"b":1.10}"#),
        (#"{"a":{"x":1}}"#, #"{"a":2}"#, #"{"a":2}"#),
        ("{}", #"{"a":{"b":"é\n"}}"#, #"{"a":{"b":"é\n"}}"#),
        (#"{"a\"b":1}"#, "{}", #"{"a\"b":1}"#),
        // Canonically equivalent names are different ones.
        ("{\"\u{e9}\":1}", "{\"e\u{301}\":2}", "{\"\u{e9}\":1,\"e\u{301}\":2}"),
    ])
    func objectsAreJoinedMemberByMember(first: String, second: String, expected: String) throws {
        let merged = try JSONMerge.merge(Array(first.utf8), with: Array(second.utf8))
        #expect(merged == Array(expected.utf8), "\(String(decoding: merged, as: UTF8.self))")
    }

    @Test func whatIsNoJSONIsRefused() {
        #expect(throws: JSONSyntaxError.self) { try JSONMerge.merge(Array("{}".utf8), with: Array("{".utf8)) }
    }
}
