import Foundations
import Testing

@testable import PushServices

/// What is made of the answers of token services, good and bad.
@Suite struct AccessTokenAnswerTests {
    private static func answer(_ status: Int, _ body: String) throws(AccessTokenFailure) -> AccessTokenAnswer {
        let response = PushHTTPResponse(status: status, headers: [], body: Array(body.utf8))
        return try AccessTokenAnswer(response, now: ManualTime.start)
    }

    @Test(
        arguments: [
            (#"{"access_token":"ya29.a0_-","token_type":"Bearer","expires_in":3599}"#, 3_599),
            (#"{"token_type":"bearer","expires_in":"86399","ext_expires_in":"86399","access_token":"eyJ0"}"#, 86_399),
            (#"{"access_token":"EgAd+/=","token_type":"bearer","expires_in":86400}"#, 86_400),
            (#"{"access_token":"t"}"#, 300), (#"{"access_token":"t","expires_in":3599.7}"#, 3_599),
            (#"{"access_token":"t","expires_in":1e300}"#, 86_400),
            (#"{"access_token":"t","expires_in":"9999999999"}"#, 86_400),
            (#"{"access_token":"t","expires_in":99999999999999999999}"#, 86_400),
        ] as [(String, Int)])
    func `A token has a life, as a number or a text`(body: String, seconds: Int) throws {
        #expect(try Self.answer(200, body).lifetime == .seconds(seconds))
    }

    private static let useless = [
        "", "null", "[]", "{}", "<html>", #"{"access_token":""}"#, #"{"access_token":null}"#, #"{"access_token":1}"#,
        #"{"access_token":"a b"}"#, #"{"access_token":"a\r\nX-Evil: 1"}"#, #"{"access_token":"\u00FC"}"#,
        #"{"access_token":"t","access_token":"u"}"#, #"{"access_token":"t","token_type":"mac"}"#,
        #"{"access_token":"t","token_type":1}"#, #"{"access_token":"t","expires_in":0}"#,
        #"{"access_token":"t","expires_in":-5}"#, #"{"access_token":"t","expires_in":"-5"}"#,
        #"{"access_token":"t","expires_in":"0"}"#, #"{"access_token":"t","expires_in":""}"#,
        #"{"access_token":"t","expires_in":"soon"}"#, #"{"access_token":"t","expires_in":"99999999999"}"#,
        #"{"access_token":"t","expires_in":null}"#, #"{"access_token":"t","expires_in":[1]}"#,
        #"{"access_token":"t","expires_in":1e999}"#, #"{"access_token":"t"}"# + String(repeating: " ", count: 20_000),
        #"{"access_token":"\#(String(repeating: "a", count: 8_193))"}"#,
        #"{"access_token":"t","x":"# + String(repeating: "[", count: 50) + String(repeating: "]", count: 50) + "}",
        String(repeating: "[", count: 10_000),
    ]

    @Test(arguments: useless) func `An answer without a usable token is a failure that passes`(body: String) {
        let failure = #expect(throws: AccessTokenFailure.self) { try Self.answer(200, body) }
        guard case .failed(let reason, after: nil) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(reason.hasPrefix("token: ") && reason.utf8.count <= 64)
    }

    private static let refusals: [(Int, String, String)] = [
        (
            400,
            #"{"error":"invalid_grant","error_description":"Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the JWT claim."}"#,
            "token: invalid_grant: check the clock of this machine"
        ),
        (
            400, #"{"error":"invalid_grant","error_description":"Invalid JWT Signature."}"#,
            "token: invalid_grant: Invalid JWT Signature."
        ),
        (
            400, #"{"error":"invalid_grant","error_description":"Invalid grant: account not found"}"#,
            "token: invalid_grant: Invalid grant: account not found"
        ),
        (
            401,
            #"{"error":"invalid_client","error_description":"AADSTS7000215: Invalid client secret provided. Ensure\r\nTrace ID: 5f","error_codes":[7000215]}"#,
            "token: invalid_client: AADSTS7000215: Invalid client secret prov"
        ),
        (400, #"{"error":"invalid_scope"}"#, "token: invalid_scope"), (401, "", "token: HTTP 401"),
        (403, "<html>", "token: HTTP 403"), (404, "{}", "token: HTTP 404"),
        (
            400, #"{"error":"invalid_client","error_description":"\#(String(repeating: "S3cret", count: 20))"}"#,
            "token: invalid_client: ..."
        ),
    ]

    @Test(arguments: refusals)
    func `A refusal of the credentials has a plain reason`(status: Int, body: String, reason: String) {
        let failure = #expect(throws: AccessTokenFailure.self) { try Self.answer(status, body) }
        #expect(failure == .refused(reason: reason))
    }

    @Test(arguments: [
        (301, ""), (302, #"{"access_token":"t"}"#), (307, ""), (408, ""), (429, #"{"error":"slow_down"}"#), (500, ""),
        (503, #"{"error":"temporarily_unavailable"}"#), (400, #"{"error":"temporarily_unavailable"}"#), (599, ""),
        (600, ""), (0, ""),
    ])
    func `Trouble of a token service says nothing about the credentials`(status: Int, body: String) {
        let failure = #expect(throws: AccessTokenFailure.self) { try Self.answer(status, body) }
        guard case .failed(_, after: nil) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }
}
