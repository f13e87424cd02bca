import Foundations
import Testing

struct JSONValueTests {
    @Test(arguments: [
        "null", "true", "false", "7", "-1.50e+3", "1E400", "\"a\\\"b\\\\\"", "[]", "{}", #"[1,[true,null],{"a":"b"}]"#,
        #"{"b":1,"a":{"c":[]},"ü":"ß","a":2}"#,
    ])
    func `A value is written as it was read`(_ text: String) {
        #expect(JSONValue(text: text)?.json == text)
    }

    @Test(arguments: ["", "{", "[1,]", "{\"a\":}", "nul", "1 2", "\"\u{1}\"", String(repeating: "[", count: 500)])
    func `Other texts are refused`(_ text: String) {
        #expect(JSONValue(text: text) == nil)
    }

    @Test func `Members are found by their exact name or in any case`() {
        let value = JSONValue(text: #"{"A":1,"a":2,"N":null}"#)
        #expect(value?["A"] == .number("1") && value?["a"] == .number("2") && value?["x"] == nil)
        #expect(value?["N"] == .null && value?[ignoringCase: "n"] == nil)
        #expect(value?[ignoringCase: "A"] == .number("2"))
        #expect(JSONValue(text: "{\"e\u{301}\":1}")?["\u{E9}"] == nil)
    }

    @Test func `Every kind of value is read`() throws {
        let text = #" {"a" : [1, -2.5e1, true, false, null, "x"], "b":{"c":"A\u00e9\ud83d\ude00\n\"\\\/"}} "#
        let object = try JSONValue(strict: Array(text.utf8))
        let elements = try #require(object["a"]?.elements)
        #expect(elements.compactMap(\.number) == [1, -25])
        #expect(elements.compactMap(\.boolean) == [true, false])
        #expect(elements.count == 6 && elements[4] == .null)
        #expect(object["b"]?["c"]?.text == "Aé😀\n\"\\/")
        #expect(JSONValue.number("1e999").number == nil)
    }

    @Test(arguments: [
        #"{"a":1,"a":2}"#, #"{"a":1,"\u0061":2}"#, #"{"b":{"a":1,"a":1}}"#, #"{"a":1}x"#, #"{"a":1,}"#, "{", "",
        #"{"a":01}"#, #"{"a":1.}"#, #"{"a":+1}"#, #"{"a":.5}"#, #"{"a":1e}"#, #"{"a":1e999}"#, #"{"a":NaN}"#,
        #"{"a":"\ud800"}"#, #"{"a":"\udc00"}"#, #"{"a":"\ud800\u0041"}"#, #"{"a":"\x"}"#, "{\"a\":\"\n\"}",
        #"{"a":"\u12"}"#, #"{a:1}"#, #"{'a':1}"#, #"{"a" 1}"#, #"{"a":tru}"#, "{\"a\":1}\u{0}",
        "{\"a\":" + String(repeating: "[", count: 40) + String(repeating: "]", count: 40) + "}",
        "{" + (0..<300).map { "\"\($0)\":1" }.joined(separator: ",") + "}",
    ])
    func `Refuses what is ambiguous or large`(text: String) {
        #expect(throws: JSONSyntaxError.self) { try JSONValue(strict: Array(text.utf8)) }
    }

    @Test func `What is not UTF-8 is refused`() {
        #expect(throws: JSONSyntaxError.self) { try JSONValue(strict: Array(#"{"a":""#.utf8) + [0xFF, 0x22, 0x7D]) }
    }

    @Test(arguments: [
        (#"{"a":1}"#, #"{"b":2}"#, #"{"a":1,"b":2}"#),
        (#"{"a":{"x":1,"y":[1]}, "b":1.10}"#, #"{"a":{"y":[],"z":null}}"#, #"{"a":{"x":1,"y":[],"z":null},"b":1.10}"#),
        (#"{"a":{"x":1}}"#, #"{"a":2}"#, #"{"a":2}"#), ("{}", #"{"a":{"b":"é\n"}}"#, #"{"a":{"b":"é\n"}}"#),
        ("{\"\u{e9}\":1}", "{\"e\u{301}\":2}", "{\"\u{e9}\":1,\"e\u{301}\":2}"),
    ])
    func `Objects are joined member by member`(first: String, second: String, expected: String) throws {
        let values = try [first, second].map { try JSONValue(Array($0.utf8)) }
        #expect(values[0].merging(values[1]).json == expected)
    }
}
