import Domain
import Foundations
import StackKit
import Testing

@testable import PushServices

/// What the connector sends, and what it makes of the answers. The conformance suite has the faults of connections.
@Suite struct FCMConnectorTests {
    private static let now = ManualTime.start
    static let token = "bk3RNwTe3H0:CI2k_HHwgIpoDKCIZvvDMExUdFQ3P1" + String(repeating: "x", count: 100)

    private func connector(
        _ client: ScriptedTokenClient, audience: String? = nil, endpoint: String? = nil
    ) throws -> FCMConnector {
        let configuration = try FCMConfiguration(
            projectID: "my-project", clientEmail: "push@my-project.iam.gserviceaccount.com", keyID: "key-1",
            privateKey: ServiceAccountKey.pem, tokenEndpoint: "https://oauth2.googleapis.com/token", audience: audience,
            endpoint: endpoint)
        return FCMConnector(configuration: configuration, client: client, now: { Self.now })
    }

    private static func request(
        _ body: String = #"{"message":{"data":{"secureId":"ID"},"android":{"priority":"high"}}}"#,
        to handle: String = token, expiresAt: Timestamp? = nil
    ) -> PushRequest {
        PushRequest(address: .handle(handle), body: Array(body.utf8), expiresAt: expiresAt)
    }

    private static var deadline: ContinuousClock.Instant { .now + patience }

    /// The body of the only push.
    private func sent(_ request: PushRequest) async throws -> JSONValue {
        let client = ScriptedTokenClient(pushes: [.answer(200, [], #"{"name":"projects/p/messages/0:1"}"#)])
        let result = try await connector(client).push(request, deadline: Self.deadline)
        #expect(result == PushResult(.accepted, status: 200))
        #expect(client.pushes.requests.count == 1)
        return try JSONValue(strict: client.pushes.requests.first?.body ?? [])
    }

    // MARK: The request

    @Test func `A push is the hub's payload with the device in it`() async throws {
        let client = ScriptedTokenClient()
        _ = try await connector(client).push(Self.request(), deadline: Self.deadline)
        let request = try #require(client.pushes.requests.first)
        #expect(request.origin == PushOrigin(host: "fcm.googleapis.com"))
        #expect(request.path == "/v1/projects/my-project/messages:send")
        #expect(request["authorization"] == "Bearer t1" && request["content-type"] == "application/json")
        let wanted =
            #"{"message":{"token":"\#(Self.token)","data":{"secureId":"ID"},"android":{"priority":"high"}}}"#
        #expect(String(decoding: request.body, as: UTF8.self) == wanted)
    }

    @Test func `The token is asked for by an assertion of the service account`() async throws {
        let client = ScriptedTokenClient()
        let audience = "https://oauth2.googleapis.com/original"
        _ = try await connector(client, audience: audience).push(Self.request(), deadline: Self.deadline)
        let request = try #require(client.tokens.requests.first)
        #expect(request.origin == PushOrigin(host: "oauth2.googleapis.com") && request.path == "/token")
        #expect(request.form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer")
        let assertion = try #require(request.form["assertion"])
        #expect(try ServiceAccountKey.isValid(assertion))
        let parts = try assertion.split(separator: ".").prefix(2).map {
            String(decoding: try #require(Base64.decode($0, .url)), as: UTF8.self)
        }
        let seconds = Self.now.seconds
        #expect(
            parts == [
                #"{"alg":"RS256","typ":"JWT","kid":"key-1"}"#,
                #"{"iss":"push@my-project.iam.gserviceaccount.com","#
                    + #""scope":"https://www.googleapis.com/auth/firebase.messaging","aud":"\#(audience)","#
                    + #""iat":\#(seconds),"exp":\#(seconds + 3_600)}"#,
            ])
    }

    @Test(arguments: [
        ("https://push.example:8443", "push.example", 8_443, ""), ("https://push.example/", "push.example", 443, ""),
        ("https://push.example/fcm/", "push.example", 443, "/fcm"),
    ])
    func `Another server may stand in for Google's`(endpoint: String, host: String, port: Int, folder: String)
        async throws
    {
        let client = ScriptedTokenClient()
        _ = try await connector(client, endpoint: endpoint).push(Self.request(), deadline: Self.deadline)
        let request = try #require(client.pushes.requests.first)
        #expect(request.origin == PushOrigin(host: host, port: port))
        #expect(request.path == folder + "/v1/projects/my-project/messages:send")
    }

    @Test(arguments: [
        ("cXyZ0123456789abcdef_-", "fid"), (token, "token"), ("cXyZ0123456789abcdef_", "token"),
        ("cXyZ0123456789abcdef:-", "token"), ("cXyZ0123456789abcdef_-0", "token"),
    ])
    func `A handle says by its form which it is`(handle: String, member: String) async throws {
        let message = try #require(try await sent(Self.request(to: handle))["message"])
        #expect(message[member]?.text == handle)
        #expect(message.members?.count { ["fid", "token"].contains($0.name) } == 1)
    }

    @Test(
        arguments: [
            (nil, nil, nil), ("3600s", nil, "3600s"), ("0s", nil, "0s"), ("3.500000001s", nil, "3.500000001s"),
            (nil, 90_000, "90s"), (nil, 500, "1s"), ("3600s", 90_000, "90s"), ("60s", 90_000, "60s"),
            ("0s", 90_000, "0s"), ("90.5s", 90_000, "90.5s"), (nil, Int64.max, nil), ("2419200s", nil, "2419200s"),
        ] as [(String?, Int64?, String?)])
    func `The time to live ends with the push`(ttl: String?, left: Int64?, wanted: String?) async throws {
        let android = ttl.map { #","android":{"ttl":"\#($0)","collapse_key":"c"}"# } ?? ""
        let end = left.map { Timestamp(milliseconds: Self.now.milliseconds.addingClamped($0)) }
        let message = try await sent(Self.request(#"{"message":{"data":{"a":"b"}\#(android)}}"#, expiresAt: end))
        #expect(message["message"]?["android"]?["ttl"]?.text == wanted)
        #expect(message["message"]?["android"]?["collapse_key"]?.text == (ttl == nil ? nil : "c"))
        #expect(message["message"]?["data"]?["a"]?.text == "b")
    }

    @Test(arguments: [
        ("", "the payload is not JSON"), ("null", "the payload is no object"), ("[]", "the payload is no object"),
        ("{\"message\":{\"data\":{\"a\":\"b\"}}", "the payload is not JSON"),
        (#"{"message":null}"#, "message is no object"), (#"{"message":[]}"#, "message is no object"),
        (#"{"message":{},"message":{}}"#, "the payload is not JSON"),
        (#"{"message":{},"validate_only":true}"#, "the payload has more than a message"),
        (#"{"message":{"token":"x"}}"#, "message has a target"), (#"{"message":{"fid":"x"}}"#, "message has a target"),
        (#"{"message":{"topic":"x"}}"#, "message has a target"),
        (#"{"message":{"condition":"x"}}"#, "message has a target"),
        (#"{"message":{"data":[]}}"#, "data is no object of strings"),
        (#"{"message":{"data":{"a":1}}}"#, "data is no object of strings"),
        (#"{"message":{"android":{"data":{"a":null}}}}"#, "data is no object of strings"),
        (#"{"message":{"android":[]}}"#, "android is no object"),
        (#"{"message":{"android":{"ttl":3600}}}"#, "BadTtl"), (#"{"message":{"android":{"ttl":"3600"}}}"#, "BadTtl"),
        (#"{"message":{"android":{"ttl":"-1s"}}}"#, "BadTtl"), (#"{"message":{"android":{"ttl":"s"}}}"#, "BadTtl"),
        (#"{"message":{"android":{"ttl":"1.s"}}}"#, "BadTtl"),
        (#"{"message":{"android":{"ttl":"1.0000000001s"}}}"#, "BadTtl"),
        (#"{"message":{"android":{"ttl":"2419201s"}}}"#, "BadTtl"),
        (#"{"message":{"android":{"ttl":"99999999999999999999s"}}}"#, "BadTtl"),
        (#"{"message":{"data":"# + String(repeating: "[", count: 10_000), "the payload is not JSON"),
        (
            #"{"message":{"apns":"# + String(repeating: "[", count: 20) + String(repeating: "]", count: 20) + "}}",
            "the payload is not JSON"
        ),
    ])
    func `A payload that FCM would refuse is not sent`(body: String, reason: String) async throws {
        let client = ScriptedTokenClient()
        let result = try await connector(client).push(Self.request(body), deadline: Self.deadline)
        #expect(result == PushResult(.invalid, reason: reason))
        #expect(client.pushes.requests.isEmpty && client.tokens.requests.isEmpty)
    }

    @Test func `A push that has expired is not sent`() async throws {
        let client = ScriptedTokenClient()
        let result = try await connector(client).push(Self.request(expiresAt: Self.now), deadline: Self.deadline)
        #expect(result == PushResult(.invalid, reason: "expired"))
        #expect(client.pushes.requests.isEmpty)
    }

    @Test(arguments: [
        (4_095, 0, PushAnswer.accepted), (4_096, 0, .tooLarge), (4_000, 95, .accepted), (4_000, 96, .tooLarge),
    ])
    func `Names and values have 4,096 bytes at most`(data: Int, title: Int, wanted: PushAnswer) async throws {
        let client = ScriptedTokenClient()
        let value = String(repeating: "x", count: data)
        let notification = title == 0 ? "" : #","notification":{"t":"\#(String(repeating: "y", count: title - 1))"}"#
        let body = #"{"message":{"data":{"d":"\#(value)"}\#(notification)}}"#
        let result = try await connector(client).push(Self.request(body), deadline: Self.deadline)
        #expect(result.answer == wanted)
    }

    @Test(arguments: ["", "a b", "a\r\nb", "\u{FC}", String(repeating: "a", count: 4_097)])
    func `An address that is no token is not sent to`(handle: String) async throws {
        let client = ScriptedTokenClient()
        let connector = try connector(client)
        #expect(await connector.push(Self.request(to: handle), deadline: Self.deadline).answer == .wrongAddress)
        #expect(connector.problem(of: .handle(handle)) != nil)
        #expect(client.pushes.requests.isEmpty)
    }

    @Test func `A subscription of a browser is no address of FCM`() async throws {
        let connector = try connector(ScriptedTokenClient())
        let address = PushAddress.subscription(endpoint: "https://fcm.googleapis.com/x", p256dh: "x", auth: "y")
        let result = await connector.push(PushRequest(address: address, body: []), deadline: Self.deadline)
        #expect(result.answer == .wrongAddress && connector.problem(of: address) != nil)
        #expect(connector.problem(of: .handle(Self.token)) == nil)
    }

    // MARK: The former format

    @Test(arguments: [
        (#"{"data":{"a":"b"}}"#, #"{"data":{"a":"b"}}"#),
        (#"{"data":{"a":1,"b":true,"c":"x"}}"#, #"{"data":{"a":"1","b":"true","c":"x"}}"#),
        (
            #"{"collapse_key":"c","time_to_live":60,"priority":"high","data":{}}"#,
            #"{"data":{},"android":{"collapse_key":"c","ttl":"60s","priority":"high"}}"#
        ),
        (#"{"time_to_live":"60"}"#, #"{"android":{"ttl":"60s"}}"#),
        (
            #"{"content_available":true,"notification":{"title":"t","android_channel_id":"c","body_loc_args":"[\"x\"]"}}"#,
            #"{"android":{"notification":{"title":"t","channel_id":"c","body_loc_args":["x"]}}}"#
        ),
    ])
    func `A payload of the former API becomes a message`(legacy: String, message: String) async throws {
        let body = try await sent(Self.request(legacy))["message"]
        let others = (body?.members ?? []).filter { $0.name != "token" }
        #expect(JSONValue.object(others) == JSONValue(text: message))
        #expect(body?["token"]?.text == Self.token)
    }

    @Test(arguments: [
        (#"{"to":"x","data":{}}"#, "the payload has a target"),
        (#"{"registration_ids":["x"],"data":{}}"#, "the payload has a target"),
        (#"{"aps":{}}"#, "the payload has an unknown member"), (#"{"data":{"a":{}}}"#, "data is no object of strings"),
        (#"{"time_to_live":-1}"#, "BadTtl"), (#"{"time_to_live":1e3}"#, "BadTtl"),
        (#"{"time_to_live":[]}"#, "BadTtl"),
    ])
    func `A payload of the former API that is not one is refused`(legacy: String, reason: String) async throws {
        let client = ScriptedTokenClient()
        let result = try await connector(client).push(Self.request(legacy), deadline: Self.deadline)
        #expect(result == PushResult(.invalid, reason: reason))
    }

    @Test(
        arguments: [
            (#"{"message":{"android":{"ttl":"60s"}}}"#, 60), (#"{"message":{"android":{"ttl":"0s"}}}"#, nil),
            (#"{"message":{"android":{"ttl":"x"}}}"#, nil), (#"{"message":{"data":{"ttl":"60s"}}}"#, nil),
            (#"{"time_to_live":60}"#, 60), ("ttl", nil), ("{}", nil),
        ] as [(String, Int?)])
    func `The hub knows how long a push lives`(body: String, seconds: Int?) {
        #expect(FCMTimeToLive.of(Array(body.utf8)) == seconds.map { .seconds($0) })
    }

    // MARK: The rest of the port

    @Test(
        arguments: [
            (.fcm(400, "INVALID_ARGUMENT", "INVALID_ARGUMENT", fields: ["message.token"]), .good),
            (.answer(200), .good),
            (.fcm(404, "NOT_FOUND", "UNREGISTERED"), .good), (.fcm(400, "INVALID_ARGUMENT", nil), .good),
            (.fcm(403, "PERMISSION_DENIED", nil), .refused(reason: "PERMISSION_DENIED")),
            (.answer(307), .unknown(reason: "HTTP 307")), (.answer(503), .unknown(reason: "HTTP 503")),
            (.failure(.notSent(reason: "no connection")), .unknown(reason: "no connection")),
        ] as [(ScriptedPushClient.Answer, CredentialCheck)])
    func `A check is a push that FCM only looks at`(
        answer: ScriptedPushClient.Answer, wanted: CredentialCheck
    ) async throws {
        let client = ScriptedTokenClient(pushes: [answer])
        #expect(try await connector(client).checkCredentials(deadline: Self.deadline) == wanted)
        let body = try JSONValue(strict: try #require(client.pushes.requests.first).body)
        #expect(body["validate_only"] == .boolean(true) && body["message"]?["token"]?.text == "securepush-check")
    }

    @Test func `A check says why the token service refuses the credentials`() async throws {
        let client = ScriptedTokenClient(tokens: [.oauth(400, "invalid_grant", "Invalid JWT Signature.")])
        let check = try await connector(client).checkCredentials(deadline: Self.deadline)
        #expect(check == .refused(reason: "token: invalid_grant: Invalid JWT Signature."))
        #expect(client.pushes.requests.isEmpty)
    }

    @Test func `The client is closed with the connector`() async throws {
        let client = ScriptedTokenClient()
        try await connector(client).close(deadline: Self.deadline)
        #expect(client.pushes.isClosed)
    }

    @Test(
        arguments: [
            ("", "https://a.example", nil, "project_id"), ("p", "http://a.example", nil, "tokenEndpoint"),
            ("p", "https://a.example", "https://u@b.example", "endpoint"),
            ("p", "https://a.example", "https://b.example/?x", "endpoint"),
        ] as [(String, String, String?, String)])
    func `A mistake in the configuration names its member`(
        project: String, tokenEndpoint: String, endpoint: String?, member: String
    ) {
        let error = #expect(throws: SetupError.self) {
            try FCMConfiguration(
                projectID: project, clientEmail: "a@b", keyID: nil, privateKey: ServiceAccountKey.pem,
                tokenEndpoint: tokenEndpoint, endpoint: endpoint)
        }
        #expect(error?.message.hasPrefix(member + " ") == true)
    }

    @Test(arguments: ["", "x", ES256Key().pem]) func `A key of another kind is refused`(pem: String) {
        let error = #expect(throws: SetupError.self) { try RS256Key(pem: pem) }
        #expect(error?.message == "the key is not an RSA key in PEM without a password.")
    }

    @Test func `A project's ID cannot change the path`() async throws {
        let configuration = try FCMConfiguration(
            projectID: "../x?y\r\n", clientEmail: "a@b", keyID: nil, privateKey: ServiceAccountKey.pem,
            tokenEndpoint: "https://a.example")
        #expect(configuration.path == "/v1/projects/..%2Fx%3Fy%0D%0A/messages:send")
    }
}
