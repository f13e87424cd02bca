import Testing

@testable import HubEmulator

@Suite struct JSONValueTests {
    @Test(arguments: [
        "null", "true", "false", "7", "-1.50e+3", "\"a\\\"b\\\\\"", "[]", "{}", #"[1,[true,null],{"a":"b"}]"#,
        #"{"b":1,"a":{"c":[]},"ü":"ß"}"#,
    ])
    func aValueIsWrittenAsItWas(_ text: String) {
        #expect(JSONValue(text: text)?.json == text)
    }

    @Test(arguments: ["", "{", "[1,]", "{\"a\":}", "nul", "1 2", "\"\u{1}\"", String(repeating: "[", count: 500)])
    func otherTextsAreNone(_ text: String) {
        #expect(JSONValue(text: text) == nil)
    }

    @Test func membersAreFoundInAnyCaseAndNullIsAbsent() {
        let value = JSONValue(text: #"{"PushChannel":"a","tags":null}"#)
        #expect(value?["pushchannel"]?.text == "a")
        #expect(value?["tags"] == nil)
        #expect(value?["x"] == nil)
    }

    @Test func noPatchAndNoInstallationCrashes() {
        let pieces =
            ["\"op\":", "\"add\"", "\"path\":", "\"/tags\"", "\"/templates/a/b\"", "\"value\":", "\"x\"", "null"]
            + "[]{},:\"\\7".map(String.init)
        for _ in 0..<20_000 {
            let text = "[{" + (0..<Int.random(in: 0...16)).map { _ in pieces.randomElement() ?? "" }.joined() + "}]"
            _ = try? InstallationPatch(Array(text.utf8))
            _ = try? HubInstallation(id: "i", document: Array(text.dropFirst().dropLast().utf8))
            _ = try? HubDescription(entry: Array(text.utf8))
        }
    }
}
