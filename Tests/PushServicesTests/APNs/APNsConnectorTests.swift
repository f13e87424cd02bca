import Domain
import Foundations
import OutgoingHTTP
import StackKit
import TestSupport
import Testing

@testable import PushServices

/// What the connector sends, and what it makes of the answers. The conformance suite has the faults of connections.
@Suite struct APNsConnectorTests {
    private static let now = Timestamp(milliseconds: 1_790_000_000_000)
    private static let device = String(repeating: "0aF", count: 20) + "0123"
    private static let alert = #"{"aps":{"alert":"a"}}"#
    private static let background = #"{"aps":{"content-available":1}}"#
    private let store = TestTokenStore()
    private let configuration: APNsConfiguration

    init() throws { configuration = try .sample() }

    private func connector(_ client: ScriptedPushClient) -> APNsConnector {
        APNsConnector(
            configuration: configuration, client: client, tokens: store.tokens(configuration), now: { Self.now })
    }

    private static func request(
        _ headers: [String: String] = [:], body: String = alert, handle: String = device, expiresAt: Timestamp? = nil
    ) -> PushRequest {
        PushRequest(address: .handle(handle), body: Array(body.utf8), headers: headers, expiresAt: expiresAt)
    }

    private func push(
        _ request: PushRequest, _ answers: ScriptedPushClient.Answer...
    ) async -> (PushResult, [PushHTTPRequest]) {
        let client = ScriptedPushClient(answers)
        let result = await connector(client).push(request, deadline: .now + patience)
        return (result, client.requests)
    }

    /// The only request of a push.
    private func sent(_ request: PushRequest) async throws -> PushHTTPRequest {
        let (result, requests) = await push(request)
        #expect(result.answer == .accepted, "\(result)")
        #expect(requests.count == 1)
        return try #require(requests.first)
    }

    // MARK: The request

    @Test func `A push has the path and the headers that Apple wants`() async throws {
        let request = try await sent(
            Self.request(
                ["apns-collapse-id": "a b", "apns-expiration": "1790000060"], expiresAt: Self.now + .seconds(60)))
        #expect(request.origin == PushOrigin(host: "api.push.apple.com"))
        #expect(request.path == "/3/device/" + Self.device.lowercased())
        #expect(request.body == Array(Self.alert.utf8))
        let token = try #require(await store.tokens(configuration).token(deadline: .now + patience))
        let headers = [
            "authorization": token.authorization, "apns-push-type": "alert", "apns-topic": "org.example.app",
            "apns-priority": "10", "apns-collapse-id": "a b", "apns-expiration": "1790000060",
        ]
        for (name, value) in headers { #expect(request[name] == value, "\(name)") }
        #expect(Set(request.headers.map(\.name)) == Set(headers.keys).union(["apns-id"]))
        // RFC 9562, version 4, in lower case.
        let id = try #require(request["apns-id"])
        #expect(id.utf8.count == 36 && id == id.lowercased() && id.split(separator: "-").count == 5)
        let indexing = Dictionary(request.headers.map { ($0.name, $0.indexing) }) { first, _ in first }
        #expect(indexing["authorization"] == .notIndexed)
        for name in ["apns-id", "apns-expiration", "apns-collapse-id"] { #expect(indexing[name] == .nameIndexed) }
        for name in ["apns-topic", "apns-push-type", "apns-priority"] { #expect(indexing[name] == .indexed) }
    }

    @Test func `Each push has an ID of its own, whatever the send says`() async throws {
        let ids = [
            try await sent(Self.request())["apns-id"], try await sent(Self.request())["apns-id"],
            try await sent(Self.request(["apns-id": "x"]))["apns-id"],
        ]
        #expect(Set(ids).count == 3 && !ids.contains("x") && !ids.contains(nil))
    }

    @Test(
        arguments: [
            ([:], alert, "alert", "10"), ([:], background, "background", "5"),
            ([:], #"{"aps":{"content-available":1,"mutable-content":1},"a":1}"#, "background", "5"),
            ([:], #"{"aps":{"content-available":1,"alert":{"title":"t"}}}"#, "alert", "10"),
            ([:], #"{"aps":{"content-available":1,"badge":0}}"#, "alert", "10"),
            ([:], #"{"aps":{"content-available":1,"sound":"default"}}"#, "alert", "10"),
            ([:], #"{"aps":{"content-available":0}}"#, "alert", "10"),
            ([:], #"{"aps":{},"content-available":1}"#, "alert", "10"),
            ([:], "content-available no JSON", "alert", "10"),
            // More members than most readers take.
            (
                [:], #"{"aps":{"content-available":1}"# + (0..<400).map { #","\#($0)":1"# }.joined() + "}",
                "background", "5"
            ),
            (["apns-push-type": "alert"], background, "alert", "10"),
            (["apns-priority": "1"], background, "background", "1"), (["apns-priority": "5"], alert, "alert", "5"),
            (["apns-push-type": "background", "apns-priority": "10"], alert, "background", "10"),
            (["apns-push-type": "newtype"], alert, "newtype", "10"),
        ] as [([String: String], String, String, String)])
    func `Type and priority are those of the send, or follow from the payload`(
        headers: [String: String], body: String, type: String, priority: String
    ) async throws {
        let request = try await sent(Self.request(headers, body: body))
        #expect(request["apns-push-type"] == type && request["apns-priority"] == priority)
        #expect(request["apns-topic"] == "org.example.app")
    }

    @Test(arguments: [
        ("complication", "org.example.app.complication"), ("controls", "org.example.app.push-type.controls"),
        ("fileprovider", "org.example.app.pushkit.fileprovider"),
        ("liveactivity", "org.example.app.push-type.liveactivity"), ("location", "org.example.app.location-query"),
        ("pushtotalk", "org.example.app.voip-ptt"), ("voip", "org.example.app.voip"),
        ("widgets", "org.example.app.push-type.widgets"), ("mdm", "org.example.app"),
    ])
    func `A type has its topic, unless the send names another`(type: String, topic: String) async throws {
        #expect(try await sent(Self.request(["apns-push-type": type]))["apns-topic"] == topic)
        let other = try await sent(Self.request(["apns-push-type": type, "apns-topic": "org.example.other"]))
        #expect(other["apns-topic"] == "org.example.other")
    }

    @Test func `A topic of the credentials that has the end already keeps it`() async throws {
        let voip = try APNsConfiguration.sample(topic: "org.example.app.voip")
        let client = ScriptedPushClient()
        let connector = APNsConnector(
            configuration: voip, client: client, tokens: store.tokens(voip), now: { Self.now })
        _ = await connector.push(Self.request(["apns-push-type": "voip"]), deadline: .now + patience)
        #expect(client.requests.first?["apns-topic"] == "org.example.app.voip")
    }

    @Test(
        arguments: [
            (nil, nil, nil), ("0", nil, "0"), (nil, 90, "1790000090"), ("1790000060", 90, "1790000060"),
            ("0", 90, "0"), ("999999999999", nil, "1792592000"), (nil, 9_000_000_000_000_000, "1792592000"),
        ] as [(String?, Int64?, String?)])
    func `The expiration is that of the send, at most in 30 days`(
        header: String?, left: Int64?, wanted: String?
    ) async throws {
        let end = left.map { Self.now + .seconds($0) }
        let request = try await sent(Self.request(header.map { ["apns-expiration": $0] } ?? [:], expiresAt: end))
        #expect(request["apns-expiration"] == wanted)
    }

    @Test(
        arguments: [
            (["apns-expiration": "-1"], alert, "BadExpirationDate"),
            (["apns-expiration": ""], alert, "BadExpirationDate"),
            (["apns-expiration": "1e3"], alert, "BadExpirationDate"),
            (["apns-expiration": "9999999999999"], alert, "BadExpirationDate"),
            (["apns-collapse-id": ""], alert, "BadCollapseId"),
            (["apns-collapse-id": "a\r\nb"], alert, "BadCollapseId"),
            (["apns-collapse-id": " a"], alert, "BadCollapseId"),
            (["apns-collapse-id": "\u{FC}"], alert, "BadCollapseId"),
            (["apns-collapse-id": String(repeating: "a", count: 65)], alert, "BadCollapseId"),
            (["apns-priority": "7"], alert, "BadPriority"), (["apns-priority": ""], alert, "BadPriority"),
            (["apns-push-type": ""], alert, "InvalidPushType"), (["apns-push-type": "Alert"], alert, "InvalidPushType"),
            (["apns-topic": ""], alert, "BadTopic"), (["apns-topic": "a b"], alert, "BadTopic"),
            (["apns-topic": String(repeating: "a", count: 256)], alert, "BadTopic"), ([:], "", "PayloadEmpty"),
        ] as [([String: String], String, String)])
    func `What APNs refuses for sure is not sent`(
        headers: [String: String], body: String, reason: String
    ) async throws {
        let (result, requests) = await push(Self.request(headers, body: body))
        #expect(result == PushResult(.invalid, reason: reason))
        #expect(requests.isEmpty)
    }

    @Test(arguments: [([:], 4_096), (["apns-push-type": "voip"], 5_120)] as [([String: String], Int)])
    func `A payload that is too large is not sent`(headers: [String: String], limit: Int) async throws {
        let body = #"{"aps":{"alert":""}}"#
        let text = String(repeating: "x", count: limit - body.utf8.count)
        let full = #"{"aps":{"alert":"\#(text)"}}"#
        #expect(try await sent(Self.request(headers, body: full)).body.count == limit)
        let (result, requests) = await push(Self.request(headers, body: full + " "))
        #expect(result == PushResult(.tooLarge, reason: "more than \(limit) bytes"))
        #expect(requests.isEmpty)
    }

    @Test(arguments: ["", "0", "0g", "abc", "ab/../cd", String(repeating: "ab", count: 257)])
    func `What is no device token is not sent to`(handle: String) async throws {
        let (result, requests) = await push(Self.request(handle: handle))
        #expect(result == PushResult(.wrongAddress, reason: "BadDeviceToken"))
        #expect(requests.isEmpty)
        let problem = connector(ScriptedPushClient()).problem(of: .handle(handle))
        #expect(problem == "The device token is not hexadecimal digits, two for each byte.")
    }

    @Test func `Device tokens of any length are taken`() throws {
        let connector = connector(ScriptedPushClient())
        for count in [1, 32, 80, 256] {
            #expect(connector.problem(of: .handle(String(repeating: "aF", count: count))) == nil)
        }
        #expect(connector.problem(of: .subscription(endpoint: "https://a", p256dh: "p", auth: "a")) != nil)
    }

    @Test func `A push that has expired is not sent`() async throws {
        let (result, requests) = await push(Self.request(expiresAt: Self.now))
        #expect(result == PushResult(.invalid, reason: "expired"))
        #expect(requests.isEmpty)
    }

    // MARK: The answer

    @Test(
        arguments: [
            (.answer(200), .accepted, ""), (.apple(400, "NewReason"), .invalid, "NewReason"),
            (.answer(400), .invalid, "HTTP 400"), (.answer(401), .credentialRefused, "HTTP 401"),
            (.apple(403, "NewReason"), .credentialRefused, "NewReason"), (.answer(302), .invalid, "HTTP 302"),
            (
                .answer(410, [], #"{"reason":"Unregistered","timestamp":1454402113000}"#),
                .gone(since: Timestamp(milliseconds: 1_454_402_113_000)), "Unregistered"
            ),
            (
                .answer(410, [], #"{"reason":"ExpiredToken","timestamp":0}"#),
                .gone(since: Timestamp(milliseconds: 0)), "ExpiredToken"
            ),
            // A time to come would remove what is registered until then.
            (
                .answer(410, [], #"{"reason":"Unregistered","timestamp":9007199254740993}"#), .gone(since: nil),
                "Unregistered"
            ),
            (
                .answer(410, [], #"{"reason":"Unregistered","timestamp":1790000000001}"#), .gone(since: now),
                "Unregistered"
            ),
            (.answer(410, [], #"{"reason":"Unregistered","timestamp":-1}"#), .gone(since: nil), "Unregistered"),
            (.answer(410, [], #"{"reason":"Unregistered","timestamp":"1"}"#), .gone(since: nil), "Unregistered"),
            (.answer(410, [], "<html>"), .gone(since: nil), "HTTP 410"),
            (.answer(429, [("retry-after", "7")]), .throttled(after: .seconds(7)), "HTTP 429"),
            (
                .answer(429, [("retry-after", "7")], #"{"reason":"TooManyRequests"}"#),
                .deviceThrottled(after: .seconds(7)), "TooManyRequests"
            ),
            // A server that stands in for Apple's may have waited for the request.
            (.answer(408), .failed(after: nil), "HTTP 408"),
            (.answer(503, [("retry-after", "99999999")]), .failed(after: .seconds(86_400)), "HTTP 503"),
            (.answer(599), .failed(after: nil), "HTTP 599"), (.answer(600), .invalid, "HTTP 600"),
            (.failure(.notSent(reason: "refused")), .unreachable, "refused"),
            (.failure(.unanswered(reason: "timeout")), .unanswered, "timeout"),
        ] as [(ScriptedPushClient.Answer, PushAnswer, String)])
    func `Answers of every form have a meaning`(
        answer: ScriptedPushClient.Answer, wanted: PushAnswer, reason: String
    ) async throws {
        let (result, requests) = await push(Self.request(), answer)
        #expect(result.answer == wanted && result.reason == reason, "\(result)")
        #expect(requests.count == 1)
        if case .success(let response) = answer { #expect(result.status == response.status) }
    }

    @Test(arguments: [(400, "IdleTimeout"), (503, "Shutdown")])
    func `A push that met the end of a connection is sent once more`(status: Int, reason: String) async throws {
        let (again, requests) = await push(Self.request(), .apple(status, reason))
        #expect(again.answer == .accepted && requests.count == 2)
        #expect(requests[0]["apns-id"] != requests[1]["apns-id"])
        let (failed, both) = await push(Self.request(), .apple(status, reason), .apple(status, reason))
        #expect(failed == PushResult(.failed(after: nil), reason: reason, status: status))
        #expect(both.count == 2)
    }

    @Test func `The client ends the connections that APNs takes back`() throws {
        let client = configuration.client(outgoing: .init(), authorities: nil)
        for (status, reason, ends) in [
            (503, "Shutdown", true), (400, "IdleTimeout", true), (403, "UnrelatedKeyIdInToken", true),
            (503, "ServiceUnavailable", false), (400, "BadDeviceToken", false), (403, "ExpiredProviderToken", false),
            (200, "Shutdown", false),
        ] {
            let body = Array(#"{"reason":"\#(reason)"}"#.utf8)
            #expect(
                client.endsConnection(PushHTTPResponse(status: status, headers: [], body: body)) == ends, "\(reason)")
        }
        #expect(client.versions == .http2 && client.sendsFirstRequestAlone && client.connectionsPerOrigin > 1)
        #expect(client.idleTimeout >= .seconds(3_600) && client.pingsAfterIdle != nil)
    }

    // MARK: The token

    @Test func `A token that has expired is replaced, and the push sent once more`() async throws {
        let seal = APNsTokenSeal(configuration)
        let old = try seal.close("bearer old", issuedAt: store.now - .seconds(1_800))
        store.put(old, of: seal.name)
        let (result, requests) = await push(Self.request(), .apple(403, "ExpiredProviderToken"))
        #expect(result.answer == .accepted && requests.count == 2)
        #expect(requests[0]["authorization"] == "bearer old" && requests[1]["authorization"] != "bearer old")
        #expect(store.written.count == 1)
        store.put(old, of: seal.name)
        let (refused, both) = await push(
            Self.request(), .apple(403, "ExpiredProviderToken"), .apple(403, "ExpiredProviderToken"))
        #expect(refused == PushResult(.credentialRefused, reason: "ExpiredProviderToken", status: 403))
        #expect(both.count == 2)
    }

    /// APNs would refuse the next one too: more than one within 20 minutes.
    @Test func `A young token is not replaced when APNs calls it expired`() async throws {
        let (result, requests) = await push(Self.request(), .apple(403, "ExpiredProviderToken"))
        #expect(result == PushResult(.credentialRefused, reason: "ExpiredProviderToken", status: 403))
        #expect(requests.count == 1 && store.written.count == 1)
    }

    @Test func `Where APNs sees too many tokens, the one before serves`() async throws {
        let tokens = store.tokens(configuration)
        let first = try #require(await tokens.token(deadline: .now + patience))
        let client = ScriptedPushClient([
            .apple(429, "TooManyProviderTokenUpdates"), .answer(200), .apple(429, "TooManyProviderTokenUpdates"),
        ])
        let connector = APNsConnector(
            configuration: configuration, client: client, tokens: tokens, now: { Self.now })
        store.advance(by: .seconds(2_501))
        try await expectEventually {
            await tokens.token(deadline: .now + patience)?.authorization != first.authorization
        }
        #expect(await connector.push(Self.request(), deadline: .now + patience).answer == .accepted)
        #expect(client.requests.count == 2 && client.requests[1]["authorization"] == first.authorization)
        // There is none before that.
        let throttled = await connector.push(Self.request(), deadline: .now + patience)
        #expect(throttled == PushResult(.throttled(after: nil), reason: "TooManyProviderTokenUpdates", status: 429))
        #expect(client.requests.count == 3)
    }

    @Test func `Without a token nothing is sent`() async throws {
        store.setHangs()
        let client = ScriptedPushClient()
        let connector = connector(client)
        let result = await connector.push(Self.request(), deadline: .now + .milliseconds(50))
        #expect(result == PushResult(.unreachable, reason: "no token in time"))
        let cancelled = Task { await connector.push(Self.request(), deadline: .now + patience) }
        cancelled.cancel()
        #expect(await cancelled.value == PushResult(.unreachable, reason: "cancelled"))
        store.release()
        #expect(client.requests.isEmpty)
    }

    // MARK: The rest of the port

    @Test(
        arguments: [
            (.apple(400, "BadDeviceToken"), .good), (.apple(410, "Unregistered"), .good), (.answer(200), .good),
            (.apple(400, "DeviceTokenNotForTopic"), .good), (.apple(429, "TooManyRequests"), .good),
            (.apple(400, "TopicDisallowed"), .refused(reason: "TopicDisallowed")),
            (.apple(400, "BadTopic"), .refused(reason: "BadTopic")),
            (.apple(403, "InvalidProviderToken"), .refused(reason: "InvalidProviderToken")),
            (.apple(403, "BadEnvironmentKeyIdInToken"), .refused(reason: "BadEnvironmentKeyIdInToken")),
            (.apple(503, "ServiceUnavailable"), .unknown(reason: "ServiceUnavailable")),
            (.apple(404, "BadPath"), .unknown(reason: "BadPath")),
            (.failure(.notSent(reason: "refused")), .unknown(reason: "refused")),
        ] as [(ScriptedPushClient.Answer, CredentialCheck)])
    func `A push to nobody shows whether the credentials are good`(
        answer: ScriptedPushClient.Answer, wanted: CredentialCheck
    ) async throws {
        let client = ScriptedPushClient([answer])
        #expect(await connector(client).checkCredentials(deadline: .now + patience) == wanted)
        #expect(client.requests.count == 1)
        let request = try #require(client.requests.first)
        #expect(request.path == "/3/device/" + String(repeating: "0", count: 64))
        #expect(request["apns-push-type"] == "background" && request["apns-expiration"] == "0")
    }

    @Test func `The client is closed with the connector`() async throws {
        let client = ScriptedPushClient()
        await connector(client).close(deadline: .now + patience)
        #expect(client.isClosed)
    }

    @Test(
        arguments: [
            ("short", "DEF1234567", "a.b", nil, "keyId"), ("ABC1234567", "DEF123456-", "a.b", nil, "teamId"),
            ("ABC1234567", "DEF1234567", "", nil, "topic"), ("ABC1234567", "DEF1234567", "a\nb", nil, "topic"),
            ("ABC1234567", "DEF1234567", "a.b", "http://localhost", "endpoint"),
            ("ABC1234567", "DEF1234567", "a.b", "https://localhost/path", "endpoint"),
        ] as [(String, String, String, String?, String)])
    func `Credentials that cannot be used are an error`(
        keyID: String, teamID: String, topic: String, endpoint: String?, name: String
    ) {
        let error = #expect(throws: SetupError.self) {
            try APNsConfiguration(
                key: ES256Key(), keyID: keyID, teamID: teamID, topic: topic, endpoint: endpoint)
        }
        #expect(error?.message.hasPrefix(name) == true)
    }

    @Test func `Each environment has its server, and an endpoint takes its place`() throws {
        func origin(_ environment: APNsConfiguration.Environment, _ endpoint: String? = nil) throws -> PushOrigin {
            try APNsConfiguration(
                key: ES256Key(), keyID: "ABC1234567", teamID: "DEF1234567", topic: "a", environment: environment,
                endpoint: endpoint
            ).origin
        }
        #expect(try origin(.production) == PushOrigin(host: "api.push.apple.com"))
        #expect(try origin(.sandbox) == PushOrigin(host: "api.sandbox.push.apple.com"))
        let other = try origin(.sandbox, "https://api.push.apple.com:2197")
        #expect(other == PushOrigin(host: "api.push.apple.com", port: 2_197))
    }
}
