import Foundations
import StackKit
import Testing

@testable import PushServices

/// What the connector makes of each answer of FCM.
@Suite struct FCMAnswerTests {
    private static let invalidToken = "The registration token is not a valid FCM registration token"
    private static let quota =
        #"{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"subject":"project:1","description":"p"}]}"#
    private static let deviceQuota =
        #"{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"subject":"s","description":"Device message rate exceeded"}]}"#
    private static let rateLimit =
        #"{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"RATE_LIMIT_EXCEEDED","domain":"googleapis.com","metadata":{"quota_limit":"SendsPerMinutePerProject"}}"#

    /// The answer, its meaning, its reason, and how often the push was sent.
    private static let answers: [(ScriptedPushClient.Answer, PushAnswer, String, Int)] = [
        (.answer(200), .accepted, "", 1), (.answer(202, [], "<html>"), .accepted, "", 1),
        (
            .fcm(400, "INVALID_ARGUMENT", "INVALID_ARGUMENT", fields: ["message.token"]), .wrongAddress,
            "INVALID_ARGUMENT", 1
        ),
        (.fcm(400, "INVALID_ARGUMENT", nil, fields: ["message.fid"]), .wrongAddress, "INVALID_ARGUMENT", 1),
        (
            .fcm(400, "INVALID_ARGUMENT", "INVALID_ARGUMENT", message: invalidToken), .wrongAddress, "INVALID_ARGUMENT",
            1
        ),
        (
            .fcm(400, "INVALID_ARGUMENT", "INVALID_ARGUMENT", fields: ["message.android.ttl"], message: invalidToken),
            .invalid, "INVALID_ARGUMENT message.android.ttl", 1
        ),
        // The push is wrong for every device.
        (
            .fcm(400, "INVALID_ARGUMENT", "INVALID_ARGUMENT", fields: ["message.data[0].value", "message.token"]),
            .invalid, "INVALID_ARGUMENT", 1
        ),
        (.fcm(400, "INVALID_ARGUMENT", "INVALID_ARGUMENT"), .invalid, "INVALID_ARGUMENT", 1),
        (
            .fcm(400, "INVALID_ARGUMENT", "INVALID_ARGUMENT", message: "Android message is too big"), .tooLarge,
            "INVALID_ARGUMENT", 1
        ),
        (.answer(400), .invalid, "HTTP 400", 1),
        (.fcm(400, "FAILED_PRECONDITION", nil), .invalid, "FAILED_PRECONDITION", 1),
        // It is about one device, and must not pause the platform.
        (.fcm(401, "UNAUTHENTICATED", "THIRD_PARTY_AUTH_ERROR"), .invalid, "THIRD_PARTY_AUTH_ERROR", 1),
        (.fcm(401, "UNAUTHENTICATED", nil), .credentialRefused, "UNAUTHENTICATED", 2),
        (.answer(401), .credentialRefused, "HTTP 401", 2),
        (.fcm(403, "PERMISSION_DENIED", "SENDER_ID_MISMATCH"), .wrongSender, "SENDER_ID_MISMATCH", 1),
        (.fcm(403, "PERMISSION_DENIED", nil), .credentialRefused, "PERMISSION_DENIED", 1),
        (.answer(403, [], "<html>"), .credentialRefused, "HTTP 403", 1),
        (.fcm(404, "NOT_FOUND", "UNREGISTERED"), .gone(since: nil), "UNREGISTERED", 1),
        (.fcm(404, "NOT_FOUND", "UNREGISTERED_FID"), .gone(since: nil), "UNREGISTERED_FID", 1),
        // A project that does not exist, or a proxy without this path: no device must be removed for it at once.
        (.fcm(404, "NOT_FOUND", nil), .wrongAddress, "NOT_FOUND", 1),
        (.answer(404, [], "<html>"), .failed(after: nil), "HTTP 404", 1),
        (
            .fcm(429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED", retryAfter: "7"), .throttled(after: .seconds(7)),
            "QUOTA_EXCEEDED", 1
        ),
        (.fcm(429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED"), .throttled(after: .seconds(60)), "QUOTA_EXCEEDED", 1),
        (
            .fcm(429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED", details: [quota]), .throttled(after: .seconds(60)),
            "QUOTA_EXCEEDED", 1
        ),
        (
            .fcm(429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED", details: [deviceQuota]), .deviceThrottled(after: nil),
            "QUOTA_EXCEEDED", 1
        ),
        (
            .fcm(429, "RESOURCE_EXHAUSTED", nil, details: [rateLimit]), .throttled(after: .seconds(60)),
            "RESOURCE_EXHAUSTED", 1
        ),
        (.answer(429), .throttled(after: .seconds(60)), "HTTP 429", 1),
        (.fcm(500, "INTERNAL", "INTERNAL"), .failed(after: nil), "INTERNAL", 1),
        (.answer(500, [], "<html>"), .failed(after: nil), "HTTP 500", 1),
        (.fcm(503, "UNAVAILABLE", "UNAVAILABLE", retryAfter: "30"), .failed(after: .seconds(30)), "UNAVAILABLE", 1),
        (.fcm(503, "UNAVAILABLE", "UNAVAILABLE"), .failed(after: nil), "UNAVAILABLE", 1),
        // Google's status for a request that was cut off is none of 5xx.
        (.fcm(499, "CANCELLED", nil), .failed(after: nil), "CANCELLED", 1),
        (.fcm(404, "X", "UNSPECIFIED_ERROR"), .failed(after: nil), "X", 1),
        (.fcm(400, "INVALID_ARGUMENT", "UNSPECIFIED_ERROR"), .invalid, "INVALID_ARGUMENT", 1),
        (.fcm(503, "UNAVAILABLE", "A_NEW_WORD"), .failed(after: nil), "A_NEW_WORD", 1),
        (.answer(413), .tooLarge, "HTTP 413", 1), (.answer(408), .failed(after: nil), "HTTP 408", 1),
        (.answer(302, [("location", "https://evil.example/")]), .invalid, "HTTP 302", 1),
        (.answer(307), .invalid, "HTTP 307", 1), (.answer(600), .invalid, "HTTP 600", 1),
        (.failure(.notSent(reason: "no connection")), .unreachable, "no connection", 1),
        (.failure(.unanswered(reason: "timeout")), .unanswered, "timeout", 1),
    ]

    @Test(arguments: answers) func `Each answer has one meaning`(
        answer: ScriptedPushClient.Answer, wanted: PushAnswer, reason: String, count: Int
    ) async throws {
        let client = ScriptedTokenClient(pushes: [answer, answer])
        let result = try await Self.push(client)
        #expect(result.answer == wanted && result.reason == reason)
        #expect(client.pushes.requests.count == count && client.tokens.requests.count == count)
        if case .success(let response) = answer { #expect(result.status == response.status) }
    }

    private static func push(_ client: ScriptedTokenClient) async throws -> PushResult {
        let configuration = try FCMConfiguration(
            projectID: "p", clientEmail: "a@b.example", keyID: nil, privateKey: ServiceAccountKey.pem,
            tokenEndpoint: "https://oauth2.googleapis.com/token")
        let connector = FCMConnector(configuration: configuration, client: client, now: { ManualTime.start })
        let request = PushRequest(
            address: .handle(FCMConnectorTests.token), body: Array(#"{"message":{"data":{"a":"b"}}}"#.utf8))
        return await connector.push(request, deadline: .now + patience)
    }

    @Test func `After a refused token, the push goes with another one`() async throws {
        let client = ScriptedTokenClient(pushes: [.fcm(401, "UNAUTHENTICATED", nil), .answer(200)])
        #expect(try await Self.push(client) == PushResult(.accepted, status: 200))
        #expect(client.pushes.requests.map { $0["authorization"] } == ["Bearer t1", "Bearer t2"])
        #expect(client.pushes.requests.first?.body == client.pushes.requests.last?.body)
    }

    @Test(arguments: [
        String(repeating: "[", count: 8_000), String(repeating: "{\"error\":", count: 800),
        #"{"error":"x"}"#, #"{"error":{"details":{}}}"#, #"{"error":{"details":[null,1,[],{"@type":1}]}}"#,
        #"{"error":{"status":1,"message":[]}}"#, #"{"error":{"code":1e999}}"#, "\u{0}", "[]",
        #"{"error":{"details":[{"@type":"x/google.firebase.fcm.v1.FcmError"}]}}"#,
        #"{"error":{"details":[{"@type":"x/google.rpc.BadRequest","fieldViolations":{}}]}}"#,
        #"{"error":{"status":"","status":"NOT_FOUND"}}"#,
    ])
    func `A body that is not FCM's leaves the status`(body: String) async throws {
        let client = ScriptedTokenClient(pushes: [.answer(503, [], body), .answer(400, [], body)])
        #expect(try await Self.push(client).answer == .failed(after: nil))
        #expect(try await Self.push(client).answer == .invalid)
    }

    @Test func `A reason has no handle and no address`() async throws {
        let words = [
            "https://fcm.googleapis.com/x", FCMConnectorTests.token, "a\r\nb", String(repeating: "w ", count: 90),
        ]
        for word in words {
            let escaped = JSONValue.string(word).json
            let client = ScriptedTokenClient(pushes: [.answer(500, [], #"{"error":{"status":\#(escaped)}}"#)])
            let reason = try await Self.push(client).reason
            #expect((1...64).contains(reason.utf8.count) && reason.utf8.allSatisfy { (0x20...0x7E).contains($0) })
            #expect(!reason.contains("googleapis") && !reason.contains(FCMConnectorTests.token.suffix(60)))
        }
    }
}

extension Result where Success == PushHTTPResponse, Failure == PushHTTPFailure {
    /// An error in FCM's form.
    ///
    /// - Parameters:
    ///   - word: `errorCode` of the detail of the type `FcmError`; `nil` for no such detail.
    ///   - fields: those of a detail of the type `BadRequest`.
    static func fcm(
        _ status: Int, _ name: String, _ word: String?, fields: [String] = [], message: String = "m",
        details others: [String] = [], retryAfter: String? = nil
    ) -> Self {
        var details = others
        if !fields.isEmpty {
            let violations = fields.map { #"{"field":"\#($0)","description":"d"}"# }.joined(separator: ",")
            details.append(
                #"{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[\#(violations)]}"#)
        }
        if let word {
            details.append(
                #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"\#(word)"}"#)
        }
        let body =
            #"{"error":{"code":\#(status),"message":"\#(message)","status":"\#(name)","details":[\#(details.joined(separator: ","))]}}"#
        return answer(status, retryAfter.map { [("retry-after", $0)] } ?? [], body)
    }
}
