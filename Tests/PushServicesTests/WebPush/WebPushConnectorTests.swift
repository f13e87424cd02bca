import Domain
import Foundations
import PushServices
import StackKit
import Testing

/// What the connector sends, and what it makes of the answers. The conformance suite has the faults of connections.
@Suite struct WebPushConnectorTests {
    private static let now = Timestamp(milliseconds: 1_790_000_000_000)
    private static let auth = "BTBZMqHH6r4Tts7J_aSIgg"
    private static let token = String(repeating: "gAAAAABf", count: 10)
    private let key = ES256Key()
    private let oldKeys = [ES256Key(), ES256Key()]

    private func connector(_ client: ScriptedPushClient, keys: Bool = false) throws -> WebPushConnector {
        let configuration = try WebPushConfiguration(
            key: key, previousKeys: keys ? oldKeys : [], subject: "mailto:push@example.org",
            allowedHosts: ["push.example.org:8443"])
        return WebPushConnector(configuration: configuration, client: client, now: { Self.now })
    }

    private static func request(
        _ headers: [String: String] = [:], endpoint: String = "https://web.push.apple.com/\(token)",
        body: String = "hello", expiresAt: Timestamp? = nil, keyHint: String? = nil
    ) -> PushRequest {
        PushRequest(
            address: .subscription(endpoint: endpoint, p256dh: ES256Key().publicText, auth: auth),
            body: Array(body.utf8), headers: headers, expiresAt: expiresAt, keyHint: keyHint)
    }

    private static var deadline: ContinuousClock.Instant { .now + patience }

    // MARK: The request

    @Test func `A push has the headers of RFC 8030, 8188 and 8292`() async throws {
        let client = ScriptedPushClient()
        let result = try await connector(client).push(
            Self.request(endpoint: "https://push.example.org:8443/up?x=1"), deadline: Self.deadline)
        #expect(result == PushResult(.accepted, status: 201))
        let request = try #require(client.requests.first)
        #expect(request.origin == PushOrigin(host: "push.example.org", port: 8_443))
        #expect(request.path == "/up?x=1")
        #expect(request["ttl"] == "2419200")
        #expect(request["urgency"] == "normal")
        #expect(request["topic"] == nil)
        #expect(request["content-encoding"] == "aes128gcm")
        #expect(request["content-type"] == "application/octet-stream")
        #expect(request.body.count == 86 + 128 + 17)
        let authorization = try #require(request["authorization"])
        #expect(authorization.hasPrefix("vapid t=") && authorization.hasSuffix(", k=\(key.publicText)"))
        let claims = try #require(authorization.split(separator: ".").dropFirst().first)
        let text = String(decoding: try #require(Base64.decode(claims, .url)), as: UTF8.self)
        let expiry = Self.now.seconds + 12 * 3_600
        #expect(text == #"{"aud":"https://push.example.org:8443","exp":\#(expiry),"sub":"mailto:push@example.org"}"#)
    }

    @Test(
        arguments: [
            ("0", nil, "0"), ("60", nil, "60"), ("99999999", nil, "2419200"), (nil, 90_000, "90"), ("60", 90_000, "60"),
            ("60", 500, "1"), ("0", 90_000, "0"), (nil, 999, "1"), (nil, Int64.max, "2419200"),
        ] as [(String?, Int64?, String)])
    func `The time to live ends with the push`(ttl: String?, left: Int64?, wanted: String) async throws {
        let client = ScriptedPushClient()
        let end = left.map { Timestamp(milliseconds: Self.now.milliseconds.addingClamped($0)) }
        let request = Self.request(ttl.map { ["ttl": $0] } ?? [:], expiresAt: end)
        _ = try await connector(client).push(request, deadline: Self.deadline)
        #expect(client.requests.first?["ttl"] == wanted)
    }

    @Test(arguments: [
        (["ttl": ""], "BadTtl"), (["ttl": "-1"], "BadTtl"), (["ttl": "1e3"], "BadTtl"), (["ttl": "\u{661}"], "BadTtl"),
        (["ttl": "99999999999"], "BadTtl"), (["urgency": "High"], "BadUrgency"), (["urgency": ""], "BadUrgency"),
        (["topic": ""], "BadTopic"), (["topic": "a b"], "BadTopic"), (["topic": "a\r\nX: y"], "BadTopic"),
        (["topic": "a="], "BadTopic"), (["topic": String(repeating: "a", count: 33)], "BadTopic"),
    ])
    func `A header that no push service takes is not sent`(headers: [String: String], reason: String) async throws {
        let client = ScriptedPushClient()
        let result = try await connector(client).push(Self.request(headers), deadline: Self.deadline)
        #expect(result == PushResult(.invalid, reason: reason))
        #expect(client.requests.isEmpty)
    }

    @Test func `A push that has expired is not sent`() async throws {
        let client = ScriptedPushClient()
        let result = try await connector(client).push(Self.request(expiresAt: Self.now), deadline: Self.deadline)
        #expect(result == PushResult(.invalid, reason: "expired"))
        #expect(client.requests.isEmpty)
    }

    @Test func `A message that does not fit is not sent`() async throws {
        let client = ScriptedPushClient()
        let request = Self.request(body: String(repeating: "x", count: 3_994))
        let result = try await connector(client).push(request, deadline: Self.deadline)
        #expect(result == PushResult(.tooLarge, reason: "more than 3993 bytes"))
        #expect(client.requests.isEmpty)
    }

    @Test func `An address that is no subscription of an allowed push service is not sent to`() async throws {
        let client = ScriptedPushClient()
        let connector = try connector(client)
        let p256dh = ES256Key().publicText
        let addresses: [(PushAddress, PushAnswer)] = [
            (.handle("x"), .wrongAddress),
            // A host that the operator has taken from the list by mistake must not cost its devices.
            (.subscription(endpoint: "https://evil.example/x", p256dh: p256dh, auth: Self.auth), .notAllowed),
            (.subscription(endpoint: "https://fcm.googleapis.com/x", p256dh: "x", auth: Self.auth), .wrongAddress),
            (.subscription(endpoint: "https://fcm.googleapis.com/x", p256dh: p256dh, auth: "x"), .wrongAddress),
        ]
        for (address, answer) in addresses {
            let result = await connector.push(PushRequest(address: address, body: []), deadline: Self.deadline)
            #expect(result.answer == answer && result.status == nil)
            #expect((1...64).contains(result.reason.utf8.count), "\(result.reason)")
        }
        #expect(client.requests.isEmpty)
    }

    @Test func `Microsoft's service is told not to keep a push with TTL 0`() async throws {
        let client = ScriptedPushClient()
        let edge = "https://wns2-par02p.notify.windows.com/w/?token=x"
        let connector = try connector(client)
        _ = await connector.push(Self.request(["ttl": "0"], endpoint: edge), deadline: Self.deadline)
        _ = await connector.push(Self.request(["ttl": "1"], endpoint: edge), deadline: Self.deadline)
        _ = await connector.push(Self.request(["ttl": "0"]), deadline: Self.deadline)
        #expect(client.requests.map { $0["x-wns-cache-policy"] } == ["no-cache", nil, nil])
    }

    // MARK: The answer

    @Test(
        arguments: [
            (.answer(200), .accepted, ""), (.answer(201), .accepted, ""), (.answer(202), .accepted, ""),
            (.answer(201, [("x-wns-notificationstatus", "dropped")]), .dropped, "HTTP 201"),
            (.answer(201, [("x-wns-notificationstatus", "channelThrottled")]), .channelThrottled, "HTTP 201"),
            (.answer(301), .invalid, "HTTP 301"), (.answer(307), .invalid, "HTTP 307"),
            (.apple(400, "BadTtl"), .invalid, "BadTtl"), (.apple(400, "BadWebPushTopic"), .invalid, "BadWebPushTopic"),
            (.answer(401), .credentialRefused, "HTTP 401"),
            (.apple(403, "BadJwtToken"), .credentialRefused, "BadJwtToken"),
            (.apple(403, "VapidPkHashMismatch"), .credentialRefused, "VapidPkHashMismatch"),
            (
                .answer(401, [], #"{"code":401,"errno":109,"error":"Unauthorized","message":"m"}"#), .credentialRefused,
                "Unauthorized (errno 109)"
            ),
            (.answer(404), .gone(since: nil), "HTTP 404"),
            (.apple(410, "Unregistered"), .gone(since: nil), "Unregistered"),
            (.answer(405), .invalid, "HTTP 405"), (.answer(413), .tooLarge, "HTTP 413"),
            (.answer(406), .throttled(after: nil), "HTTP 406"), (.answer(429), .throttled(after: nil), "HTTP 429"),
            (.answer(429, [("retry-after", "7")]), .throttled(after: .seconds(7)), "HTTP 429"),
            (.answer(429, [("retry-after", "99999999999999999999")]), .throttled(after: .seconds(86_400)), "HTTP 429"),
            (.answer(429, [("retry-after", "soon")]), .throttled(after: nil), "HTTP 429"),
            (.answer(429, [("retry-after", "-5")]), .throttled(after: nil), "HTTP 429"),
            (
                .answer(503, [("retry-after", Timestamp(milliseconds: now.milliseconds + 30_000).httpDate)]),
                .failed(after: .seconds(30)), "HTTP 503"
            ),
            (.answer(408), .failed(after: nil), "HTTP 408"), (.answer(500), .failed(after: nil), "HTTP 500"),
            (.answer(599), .failed(after: nil), "HTTP 599"), (.answer(600), .invalid, "HTTP 600"),
            (
                .answer(400, [("x-wns-error-description", "Ttl value conflicts with X-WNS-Cache-Policy")]), .invalid,
                "Ttl value conflicts with X-WNS-Cache-Policy"
            ),
            (.failure(.notSent(reason: "refused")), .unreachable, "refused"),
            (.failure(.unanswered(reason: "timeout")), .unanswered, "timeout"),
        ] as [(ScriptedPushClient.Answer, PushAnswer, String)])
    func `Each answer has one meaning`(
        answer: ScriptedPushClient.Answer, wanted: PushAnswer, reason: String
    ) async throws {
        let result = try await connector(ScriptedPushClient([answer])).push(Self.request(), deadline: Self.deadline)
        #expect(result.answer == wanted)
        #expect(result.reason == reason)
        if case .success(let response) = answer { #expect(result.status == response.status) }
    }

    @Test(arguments: [
        "https://web.push.apple.com/\(token)", "the token \(token)", String(repeating: "long words ", count: 50),
        "\u{0}\r\n\u{202E}", "na\u{EF}ve", "\\u0000",
    ])
    func `A reason has no address, no token and nothing but ASCII`(text: String) async throws {
        let client = ScriptedPushClient([.apple(500, text), .answer(500, [("x-wns-error-description", text)])])
        let connector = try connector(client)
        for _ in 0..<2 {
            let reason = await connector.push(Self.request(), deadline: Self.deadline).reason
            #expect((1...64).contains(reason.utf8.count) && reason.utf8.allSatisfy { (0x20...0x7E).contains($0) })
            #expect(!reason.contains(Self.token) && !reason.contains("apple.com"))
        }
    }

    @Test func `Where a topic is refused, the push is sent once without it`() async throws {
        let client = ScriptedPushClient([.apple(400, "BadWebPushTopic"), .answer(201)])
        let result = try await connector(client).push(Self.request(["topic": "abc"]), deadline: Self.deadline)
        #expect(result.answer == .accepted)
        #expect(client.requests.map { $0["topic"] } == ["abc", nil])
        let stubborn = ScriptedPushClient([.apple(400, "BadWebPushTopic"), .apple(400, "BadWebPushTopic")])
        let refused = try await connector(stubborn).push(Self.request(["topic": "abc"]), deadline: Self.deadline)
        #expect(refused == PushResult(.invalid, reason: "BadWebPushTopic", status: 400))
        #expect(stubborn.requests.count == 2)
    }

    // MARK: Keys

    @Test func `A push that is refused for its key is tried with each former key once`() async throws {
        let client = ScriptedPushClient([.answer(403), .answer(401), .answer(201)])
        let result = try await connector(client, keys: true).push(Self.request(), deadline: Self.deadline)
        #expect(result == PushResult(.accepted, status: 201, keyUsed: oldKeys[1].id))
        let used = client.requests.compactMap { $0["authorization"]?.split(separator: "k=").last }.map(String.init)
        #expect(used == ([key] + oldKeys).map(\.publicText))
    }

    @Test func `The key that was accepted last is tried first`() async throws {
        let client = ScriptedPushClient()
        let connector = try connector(client, keys: true)
        let hinted = await connector.push(Self.request(keyHint: oldKeys[1].id), deadline: Self.deadline)
        #expect(hinted == PushResult(.accepted, status: 201, keyUsed: oldKeys[1].id))
        // One that is not in the configuration any more.
        let unknown = await connector.push(Self.request(keyHint: "00000000"), deadline: Self.deadline)
        #expect(unknown == PushResult(.accepted, status: 201))
        #expect(client.requests.count == 2)
    }

    @Test func `A key that nobody accepts is a refusal of our credentials`() async throws {
        let client = ScriptedPushClient([.apple(403, "VapidPkHashMismatch"), .answer(403), .answer(401)])
        let result = try await connector(client, keys: true).push(Self.request(), deadline: Self.deadline)
        #expect(result == PushResult(.credentialRefused, reason: "VapidPkHashMismatch", status: 403))
        #expect(client.requests.count == 3)
    }

    /// Otherwise one device, which subscribes with a key of its own, stops the pushes to all.
    @Test func `A token that the push service has accepted is good, whatever a device brings`() async throws {
        let client = ScriptedPushClient([.answer(201), .answer(403), .answer(403), .apple(403, "BadJwtToken")])
        let connector = try connector(client)
        _ = await connector.push(Self.request(), deadline: Self.deadline)
        let foreign = await connector.push(Self.request(), deadline: Self.deadline)
        #expect(foreign == PushResult(.wrongSender, reason: "HTTP 403", status: 403))
        // Another push service has not accepted it yet.
        let other = Self.request(endpoint: "https://fcm.googleapis.com/x")
        #expect(await connector.push(other, deadline: Self.deadline).answer == .credentialRefused)
        #expect(await connector.push(Self.request(), deadline: Self.deadline).answer == .credentialRefused)
    }

    @Test func `A bad token is not tried with other keys`() async throws {
        let client = ScriptedPushClient([.apple(403, "BadJwtToken")])
        let result = try await connector(client, keys: true).push(Self.request(), deadline: Self.deadline)
        #expect(result.answer == .credentialRefused)
        #expect(client.requests.count == 1)
    }

    // MARK: The rest of the port

    @Test(
        arguments: [
            (.answer(404), .good), (.apple(410, "Unregistered"), .good), (.answer(201), .good),
            (.apple(400, "BadWebPushRequest"), .good), (.apple(403, "VapidPkHashMismatch"), .good),
            (.apple(403, "BadJwtToken"), .refused(reason: "BadJwtToken")), (.answer(401), .refused(reason: "HTTP 401")),
            (.answer(503), .unknown(reason: "HTTP 503")),
            (.failure(.notSent(reason: "refused")), .unknown(reason: "refused")),
        ] as [(ScriptedPushClient.Answer, CredentialCheck)])
    func `A push to nobody shows whether the token is good`(
        answer: ScriptedPushClient.Answer, wanted: CredentialCheck
    ) async throws {
        let client = ScriptedPushClient([answer])
        #expect(try await connector(client).checkCredentials(deadline: Self.deadline) == wanted)
        #expect(client.requests.first?.origin == PushOrigin(host: "web.push.apple.com"))
        #expect(client.requests.count == 1)
    }

    @Test(
        arguments: [
            ("https://web.push.apple.com/x", nil, auth, nil),
            ("https://localhost/x", nil, auth, "The endpoint is not of a push service that is allowed here."),
            ("https://web.push.apple.com/x#", nil, auth, "The endpoint is a URL with a fragment."),
            ("https://web.push.apple.com/x", "x", auth, "The p256dh is not a point on P-256: 65 bytes in base64url."),
            ("https://web.push.apple.com/x", nil, "x", "The auth is not 16 bytes in base64url."),
        ] as [(String, String?, String, String?)])
    func `A device is told why it cannot be registered`(
        endpoint: String, p256dh: String?, auth: String, wanted: String?
    ) throws {
        let address = PushAddress.subscription(
            endpoint: endpoint, p256dh: p256dh ?? ES256Key().publicText, auth: auth)
        #expect(try connector(ScriptedPushClient()).problem(of: address) == wanted)
    }

    @Test func `The client is closed with the connector`() async throws {
        let client = ScriptedPushClient()
        try await connector(client).close(deadline: Self.deadline)
        #expect(client.isClosed)
    }

    @Test(arguments: [
        "", "push@example.org", "mailto:", "mailto:push", "mailto:push@localhost", "mailto:push@LOCALHOST",
        "mailto:a@b.localhost", "https://", "https://localhost/x", "https://localhost:8443", "http://example.org",
        "mailto:a\"@example.org", "mailto:a b@example.org", "mailto:\u{FC}@example.org",
        "https://example.org/" + String(repeating: "x", count: 200),
    ])
    func `A subject that push services refuse is an error`(subject: String) {
        let error = #expect(throws: SetupError.self) { try WebPushConfiguration(key: ES256Key(), subject: subject) }
        #expect(error?.message.hasPrefix("subject ") == true)
    }

    @Test func `There are at most four former keys`() throws {
        let keys = (0..<5).map { _ in ES256Key() }
        #expect(throws: Never.self) {
            try WebPushConfiguration(key: key, previousKeys: Array(keys.prefix(4)), subject: "https://example.org")
        }
        #expect(throws: SetupError.self) {
            try WebPushConfiguration(key: key, previousKeys: keys, subject: "https://example.org")
        }
    }
}
