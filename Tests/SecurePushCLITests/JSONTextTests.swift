import Testing

@testable import SecurePushCLI

@Suite struct JSONTextTests {
    @Test(arguments: [
        (#"{"Payload":1.10,"x":2}"#, "1.10"),
        (#"{"x":{"Payload":1},"Payload":{"a":[1,{"b":"}"}]}}"#, #"{"a":[1,{"b":"}"}]}"#),
        (#"{"Payload":"a\"}\\"}"#, #""a\"}\\""#),
        ("{ \"x\" : true , \"Payload\" : -1e5 }", "-1e5"),
        (#"{"Pay\u006Coad":false}"#, "false"),
        (#"{"Payload":[]}"#, "[]"),
    ])
    func `A member as it was written`(text: String, value: String) {
        #expect(JSONText.member("Payload", of: text) == value)
    }

    @Test(arguments: ["{}", "[1]", "", #"{"payload":1}"#, #"{"x":{"Payload":1}}"#, #"{"Payload":1"#])
    func `No such member`(text: String) {
        #expect(JSONText.member("Payload", of: text) == nil)
    }

    @Test(arguments: ["0", "-0.1E+9", "1e400", "[ ]", "{ }", #""\u00e9\n""#, " null ", #"[1,{"a":[]}]"#])
    func `JSON`(text: String) {
        #expect(JSONText.isValid(text))
    }

    @Test(arguments: [
        "", "01", "1.", ".5", "+1", "[1,]", #"{"a"}"#, #"{"a":1,}"#, "nul", #""\x""#, "\"\n\"", "1 2", "[", "NaN",
        String(repeating: "[", count: 100_000),
    ])
    func `No JSON`(text: String) {
        #expect(!JSONText.isValid(text))
    }
}
