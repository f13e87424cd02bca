import Testing

@testable import SecurePushCLI

@Suite struct JSONCodingTests {
    private struct Body: Codable, Equatable {
        var hubMessageId: String?
        var counts: [String: Int]
        var accessToken: String
        var unit: String?

        private enum CodingKeys: String, CodingKey { case hubMessageId, counts, accessToken = "access_token", unit }
    }

    @Test func `Members are in PascalCase; names of OAuth and the keys of a dictionary stay`() throws {
        let body = Body(hubMessageId: "a/b", counts: ["sent": 1, "Ended": 2], accessToken: "t")
        let text = #"{"Counts":{"Ended":2,"sent":1},"HubMessageId":"a/b","access_token":"t"}"#
        #expect(try JSONCoding.encode(body) == text)
        #expect(try JSONCoding.decode(Body.self, from: text) == body)
    }

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
