import Testing

@testable import SecurePushCLI

@Suite struct JSONCodingTests {
    @Test(arguments: [
        (#"{"Payload":1.10,"x":2}"#, "1.10"),
        (#"{"x":{"Payload":1},"Payload":{"a":[1,{"b":"}"}]}}"#, #"{"a":[1,{"b":"}"}]}"#),
        (#"{"Payload":"a\"}\\"}"#, #"a"}\"#),
        ("{ \"x\" : true , \"Payload\" : -1e5 }", "-1e5"),
        (#"{"Pay\u006Coad":false}"#, "false"),
        (#"{"Payload":[]}"#, "[]"),
    ])
    func `A member as it was written`(text: String, value: String) {
        #expect(JSONCoding.member("Payload", of: text) == value)
    }

    @Test(arguments: ["{}", "[1]", "", #"{"payload":1}"#, #"{"x":{"Payload":1}}"#, #"{"Payload":1"#])
    func `No such member`(text: String) {
        #expect(JSONCoding.member("Payload", of: text) == nil)
    }
}
