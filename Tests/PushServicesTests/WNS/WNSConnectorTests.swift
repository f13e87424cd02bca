import Foundations
import NIOCore
import OutgoingHTTP
import StackKit
import Testing

@testable import PushServices

/// What the connector sends, and what it makes of the answers. The conformance suite has the faults of connections.
@Suite struct WNSConnectorTests {
    private static let now = ManualTime.start
    static let channel = "https://db5p.notify.windows.com/?token=AwYAAAB%2b" + String(repeating: "x", count: 200)
    private static let entra = WNSConfiguration.Identity.entra(tenant: "my-tenant", clientID: "my-client")

    private func connector(
        _ client: ScriptedTokenClient, _ identity: WNSConfiguration.Identity = entra, tokenEndpoint: String? = nil
    ) throws -> WNSConnector {
        let configuration = try WNSConfiguration(
            identity: identity, clientSecret: "s3cret~&", tokenEndpoint: tokenEndpoint,
            allowedHosts: ["push.example:8443", "10.1.2.3"])
        return WNSConnector(configuration: configuration, client: client, now: { Self.now })
    }

    private static func request(
        _ headers: [String: String] = ["x-wns-type": "wns/raw"], to channel: String = channel, body: String = "ID",
        expiresAt: Timestamp? = nil
    ) -> PushRequest {
        PushRequest(address: .handle(channel), body: Array(body.utf8), headers: headers, expiresAt: expiresAt)
    }

    private static var deadline: ContinuousClock.Instant { .now + patience }

    // MARK: The request

    @Test func `A push has the headers of WNS`() async throws {
        let client = ScriptedTokenClient()
        let headers = ["x-wns-type": "wns/raw", "x-wns-tag": "tag", "content-type": "x/y", "apns-topic": "t"]
        let result = try await connector(client).push(Self.request(headers), deadline: Self.deadline)
        #expect(result == PushResult(.accepted, status: 201))
        let request = try #require(client.pushes.requests.first)
        #expect(request.origin == PushOrigin(host: "db5p.notify.windows.com"))
        #expect(request.path == String(Self.channel.dropFirst("https://db5p.notify.windows.com".count)))
        #expect(String(decoding: request.body, as: UTF8.self) == "ID")
        let wanted = [
            "authorization": "Bearer t1", "content-type": "application/octet-stream", "x-wns-type": "wns/raw",
            "x-wns-requestforstatus": "true", "x-wns-tag": "tag",
        ]
        #expect(Dictionary(request.headers.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 }) == wanted)
        #expect(request.headers.count == wanted.count && request.problem == nil)
    }

    @Test(arguments: [
        ("wns/raw", "wns/raw", "application/octet-stream"), ("WNS/Toast", "wns/toast", "text/xml"),
        ("wns/tile", "wns/tile", "text/xml"), ("wns/badge", "wns/badge", "text/xml"),
    ])
    func `The media type follows from the type`(type: String, wanted: String, mediaType: String) async throws {
        let client = ScriptedTokenClient()
        _ = try await connector(client).push(Self.request(["x-wns-type": type]), deadline: Self.deadline)
        let request = try #require(client.pushes.requests.first)
        #expect(request["x-wns-type"] == wanted && request["content-type"] == mediaType)
    }

    @Test(
        arguments: [
            (nil, nil, nil), ("3600", nil, "3600"), (nil, 90_000, "90"), ("3600", 90_000, "90"), ("60", 90_000, "60"),
            (nil, 500, "1"), ("0", nil, "0"),
        ] as [(String?, Int64?, String?)])
    func `The time to live ends with the push`(ttl: String?, left: Int64?, wanted: String?) async throws {
        let client = ScriptedTokenClient()
        var headers = ["x-wns-type": "wns/raw"]
        headers["x-wns-ttl"] = ttl
        let request = Self.request(headers, expiresAt: left.map { Self.now + .milliseconds($0) })
        _ = try await connector(client).push(request, deadline: Self.deadline)
        #expect(client.pushes.requests.first?["x-wns-ttl"] == wanted)
    }

    @Test(
        arguments: [
            ([:], "BadType"), (["x-wns-type": "wns/other"], "BadType"), (["x-wns-type": "raw"], "BadType"),
            (["x-wns-type": "wns/raw", "x-wns-ttl": "-1"], "BadTtl"),
            (["x-wns-type": "wns/raw", "x-wns-ttl": "1e3"], "BadTtl"),
            (["x-wns-type": "wns/raw", "x-wns-tag": "a\r\nAuthorization: x"], "BadHeader"),
            (["x-wns-type": "wns/raw", "x-wns-tag": "\u{FC}"], "BadHeader"),
            (["x-wns-type": "wns/raw", "x-wns-tag": ""], "BadHeader"),
            (["x-wns-type": "wns/raw", "x-wns-tag": String(repeating: "a", count: 257)], "BadHeader"),
            // A device names the headers of its templates. One that cannot be written must not look like a push service
            // that cannot be reached, which pauses the platform.
            (["x-wns-type": "wns/raw", "x-wns-a b": "x"], "BadHeader"),
            (["x-wns-type": "wns/raw", "x-wns-a:": "x"], "BadHeader"),
            (["x-wns-type": "wns/raw", "x-wns-\u{FC}": "x"], "BadHeader"),
            (["x-wns-type": "wns/raw", "x-wns-\u{301}": "x"], "BadHeader"),
            (["x-wns-type": "wns/raw", "x-wns-a\r\nauthorization": "x"], "BadHeader"),
            (["x-wns-type": "wns/raw", "x-wns-" + String(repeating: "a", count: 59): "x"], "BadHeader"),
        ] as [([String: String], String)])
    func `A header that WNS does not take is not sent`(headers: [String: String], reason: String) async throws {
        let client = ScriptedTokenClient()
        let result = try await connector(client).push(Self.request(headers), deadline: Self.deadline)
        #expect(result == PushResult(.invalid, reason: reason))
        #expect(client.pushes.requests.isEmpty && client.tokens.requests.isEmpty)
    }

    @Test(arguments: [(12, true), (13, false)])
    func `The largest headers fit beside the largest channel and token`(count: Int, isSent: Bool) async throws {
        let client = ScriptedTokenClient(tokens: [.token(String(repeating: "t", count: 8_192))])
        var headers = ["x-wns-type": "wns/raw", "x-wns-ttl": "60"]
        for number in 10..<10 + count {
            headers["x-wns-" + String(repeating: "a", count: 56) + "\(number)"] = String(repeating: "v", count: 256)
        }
        let channel = Self.channel + String(repeating: "x", count: 2_048 - Self.channel.utf8.count)
        let result = try await connector(client).push(Self.request(headers, to: channel), deadline: Self.deadline)
        #expect(result.answer == (isSent ? .accepted : .invalid))
        #expect(client.pushes.requests.count == (isSent ? 1 : 0))
        #expect(client.pushes.requests.allSatisfy { $0.problem == nil })
    }

    /// `printf %s KEY | sha256sum`.
    @Test(arguments: [
        ("order42", "order42"), ("aaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaa"), ("order-42", "3bf8b157c4238eef"),
        ("aaaaaaaaaaaaaaaaa", "b860666ee2966dd8"),
    ])
    func `A collapse key that is no tag of WNS becomes a hash of it`(key: String, tag: String) async throws {
        let client = ScriptedTokenClient()
        let headers = ["x-wns-type": "wns/raw", "x-wns-tag": key]
        _ = try await connector(client).push(Self.request(headers), deadline: Self.deadline)
        #expect(client.pushes.requests.first?["x-wns-tag"] == tag)
    }

    @Test(arguments: [(5_000, PushAnswer.accepted), (5_001, .tooLarge)])
    func `A push has 5,000 bytes at most`(count: Int, wanted: PushAnswer) async throws {
        let client = ScriptedTokenClient()
        let request = Self.request(body: String(repeating: "x", count: count))
        #expect(try await connector(client).push(request, deadline: Self.deadline).answer == wanted)
    }

    @Test func `A push that has expired is not sent`() async throws {
        let client = ScriptedTokenClient()
        let result = try await connector(client).push(Self.request(expiresAt: Self.now), deadline: Self.deadline)
        #expect(result == PushResult(.invalid, reason: "expired") && client.pushes.requests.isEmpty)
    }

    // MARK: Where a push goes

    @Test(
        arguments: [
            (channel, nil), ("https://push.example:8443/x", nil), ("https://10.1.2.3/x", nil),
            ("https://evil.example/?token=x", PushAnswer.notAllowed), ("https://notify.windows.com/x", .notAllowed),
            ("https://notify.windows.com.evil.example/x", .notAllowed), ("https://xnotify.windows.com/x", .notAllowed),
            ("https://db5p.notify.windows.com:8443/x", .notAllowed),
            ("https://login.microsoftonline.com/x", .notAllowed),
            ("http://db5p.notify.windows.com/x", .wrongAddress), ("https://u@db5p.notify.windows.com/x", .wrongAddress),
            ("https://db5p.notify.windows.com/x#y", .wrongAddress),
            ("https://db5p.notify.windows.com\\@evil/x", .wrongAddress),
            ("https://evil.example\r\n.notify.windows.com/x", .wrongAddress), ("", .wrongAddress),
            ("https://db5p.notify.windows.com/" + String(repeating: "x", count: 2_048), .wrongAddress),
        ] as [(String, PushAnswer?)])
    func `The access token goes to servers of WNS only`(channel: String, wanted: PushAnswer?) async throws {
        let client = ScriptedTokenClient()
        let connector = try connector(client)
        let result = await connector.push(Self.request(to: channel), deadline: Self.deadline)
        #expect(result.answer == wanted ?? .accepted)
        #expect(client.pushes.requests.count == (wanted == nil ? 1 : 0))
        #expect((connector.problem(of: .handle(channel)) == nil) == (wanted == nil))
    }

    @Test func `A subscription of a browser is no address of WNS`() async throws {
        let connector = try connector(ScriptedTokenClient())
        let address = PushAddress.subscription(endpoint: Self.channel, p256dh: "x", auth: "y")
        #expect(connector.problem(of: address) == "A device of WNS has the URI of a channel.")
        let result = await connector.push(PushRequest(address: address, body: []), deadline: Self.deadline)
        #expect(result.answer == .wrongAddress)
    }

    /// A name that leads to a machine inside, as its owner can let it at any time.
    @Test(arguments: [
        ("db5p.notify.windows.com", 443, "13.107.4.1", true), ("push.example", 8_443, "203.0.114.9", true),
        ("push.example", 8_443, "127.0.0.1", false), ("push.example", 8_443, "169.254.169.254", false),
        ("push.example", 8_443, "10.1.2.4", true), ("push.example", 8_443, "10.1.2.3", false),
        ("10.1.2.3", 443, "10.1.2.3", true), ("login.microsoftonline.com", 443, "10.9.9.9", true),
    ])
    func `Connections go where they may`(host: String, port: Int, address: String, isAllowed: Bool) throws {
        let configuration = try WNSConfiguration(
            identity: Self.entra, clientSecret: "s",
            allowedHosts: ["push.example:8443", "10.1.2.3", "10.1.2.4:8443"])
        let client = configuration.client(outgoing: OutgoingConfiguration(), authorities: nil)
        let socket = try SocketAddress(ipAddress: address, port: port)
        #expect(client.isAllowed(socket, PushOrigin(host: host, port: port)) == isAllowed)
        #expect(client.versions == .http1 && client.idleTimeout < .seconds(240))
    }

    // MARK: The token

    @Test(
        arguments: [
            (
                entra, nil, "login.microsoftonline.com", "/my-tenant/oauth2/v2.0/token", "my-client",
                "https://wns.windows.com/.default"
            ),
            (
                .package(sid: "ms-app://s-1-15-2-1"), nil, "login.live.com", "/accesstoken.srf", "ms-app://s-1-15-2-1",
                "notify.windows.com"
            ),
            (entra, "https://proxy.example/t", "proxy.example", "/t", "my-client", "https://wns.windows.com/.default"),
        ] as [(WNSConfiguration.Identity, String?, String, String, String, String)])
    func `Each token service has its own form`(
        identity: WNSConfiguration.Identity, endpoint: String?, host: String, path: String, id: String, scope: String
    ) async throws {
        let client = ScriptedTokenClient()
        _ = try await connector(client, identity, tokenEndpoint: endpoint).push(
            Self.request(), deadline: Self.deadline)
        let request = try #require(client.tokens.requests.first)
        #expect(request.origin == PushOrigin(host: host) && request.path == path)
        #expect(
            request.form == [
                "grant_type": "client_credentials", "client_id": id, "client_secret": "s3cret~&", "scope": scope,
            ])
        #expect(request["authorization"] == nil)
    }

    @Test func `After a refused token, the push goes with another one`() async throws {
        let client = ScriptedTokenClient(pushes: [.answer(401), .answer(200)])
        let result = try await connector(client).push(Self.request(), deadline: Self.deadline)
        #expect(result == PushResult(.accepted, status: 200))
        #expect(client.pushes.requests.map { $0["authorization"] } == ["Bearer t1", "Bearer t2"])
    }

    // MARK: The answer

    /// The answer, its meaning, its reason, and how often the push was sent.
    private static let answers: [(ScriptedPushClient.Answer, PushAnswer, String, Int)] = [
        (.answer(200), .accepted, "", 1), (.answer(200, [("x-wns-status", "received")]), .accepted, "", 1),
        (.answer(200, [("x-wns-status", "dropped")]), .dropped, "HTTP 200", 1),
        (.answer(200, [("x-wns-status", "Dropped")]), .dropped, "HTTP 200", 1),
        (.answer(200, [("x-wns-status", "channelthrottled")]), .channelThrottled, "HTTP 200", 1),
        (.answer(200, [("x-wns-notificationstatus", "dropped")]), .dropped, "HTTP 200", 1),
        (.answer(301), .invalid, "HTTP 301", 1),
        (.answer(302, [("location", "https://evil.example/")]), .invalid, "HTTP 302", 1),
        (.answer(307), .invalid, "HTTP 307", 1),
        (.answer(400, [("x-wns-error-description", "Bad tag")]), .invalid, "Bad tag", 1),
        (.answer(401), .channelRefused, "HTTP 401", 2), (.answer(403), .wrongSender, "HTTP 403", 1),
        (.answer(404), .wrongAddress, "HTTP 404", 1), (.answer(405), .invalid, "HTTP 405", 1),
        (.answer(406), .throttled(after: nil), "HTTP 406", 1),
        (.answer(406, [("x-wns-continue-after", "30")]), .throttled(after: .seconds(30)), "HTTP 406", 1),
        (
            .answer(406, [("retry-after", "9"), ("x-wns-continue-after", "30")]), .throttled(after: .seconds(30)),
            "HTTP 406", 1
        ),
        (.answer(406, [("x-wns-continue-after", "x")]), .throttled(after: nil), "HTTP 406", 1),
        (
            .answer(406, [("x-wns-continue-after", "99999999999999999999")]), .throttled(after: .seconds(86_400)),
            "HTTP 406", 1
        ),
        (.answer(429, [("retry-after", "7")]), .throttled(after: .seconds(7)), "HTTP 429", 1),
        (.answer(408), .failed(after: nil), "HTTP 408", 1), (.answer(410), .gone(since: nil), "HTTP 410", 1),
        (.answer(413), .tooLarge, "HTTP 413", 1), (.answer(500), .failed(after: nil), "HTTP 500", 1),
        (.answer(503, [("retry-after", "7")]), .failed(after: .seconds(7)), "HTTP 503", 1),
        (.answer(600), .invalid, "HTTP 600", 1),
        (.failure(.notSent(reason: "no connection")), .unreachable, "no connection", 1),
        (.failure(.unanswered(reason: "timeout")), .unanswered, "timeout", 1),
    ]

    @Test(arguments: answers) func `Each answer has one meaning`(
        answer: ScriptedPushClient.Answer, wanted: PushAnswer, reason: String, count: Int
    ) async throws {
        let client = ScriptedTokenClient(pushes: [answer, answer])
        let result = try await connector(client).push(Self.request(), deadline: Self.deadline)
        #expect(result.answer == wanted && result.reason == reason)
        #expect(client.pushes.requests.count == count && client.tokens.requests.count == count)
        if case .success(let response) = answer { #expect(result.status == response.status) }
    }

    // MARK: The rest of the port

    @Test(
        arguments: [
            (.answer(404), .good), (.answer(410), .good), (.answer(403), .good), (.answer(400), .good),
            (.answer(401), .refused(reason: "HTTP 401")), (.answer(503), .good),
            (.failure(.notSent(reason: "no connection")), .good),
        ] as [(ScriptedPushClient.Answer, CredentialCheck)])
    func `A check asks WNS with a channel that is none`(
        answer: ScriptedPushClient.Answer, wanted: CredentialCheck
    ) async throws {
        let client = ScriptedTokenClient(pushes: [answer, answer])
        #expect(try await connector(client).checkCredentials(deadline: Self.deadline) == wanted)
        let request = try #require(client.pushes.requests.first)
        #expect(request.origin == PushOrigin(host: "db5p.notify.windows.com"))
        #expect(request.path == "/?token=securepush-check")
    }

    @Test(
        arguments: [
            (.oauth(401, "invalid_client", "Wrong"), .refused(reason: "token: invalid_client: Wrong")),
            (.answer(503), .unknown(reason: "token: HTTP 503")),
            (.failure(.notSent(reason: "no connection")), .unknown(reason: "token: no connection")),
        ] as [(ScriptedPushClient.Answer, CredentialCheck)])
    func `A check asks the token service first`(
        answer: ScriptedPushClient.Answer, wanted: CredentialCheck
    ) async throws {
        let client = ScriptedTokenClient(tokens: [answer])
        #expect(try await connector(client).checkCredentials(deadline: Self.deadline) == wanted)
        #expect(client.pushes.requests.isEmpty)
    }

    @Test func `The client is closed with the connector`() async throws {
        let client = ScriptedTokenClient()
        try await connector(client).close(deadline: Self.deadline)
        #expect(client.pushes.isClosed)
    }

    @Test(
        arguments: [
            (.entra(tenant: "", clientID: "c"), nil, [], "tenant"),
            (.entra(tenant: "a/b", clientID: "c"), nil, [], "tenant"),
            (entra, "http://a.example", [], "tokenEndpoint"), (entra, nil, ["https://x"], "allowedHosts"),
        ] as [(WNSConfiguration.Identity, String?, [String], String)])
    func `A mistake in the configuration names its member`(
        identity: WNSConfiguration.Identity, endpoint: String?, hosts: [String], member: String
    ) {
        let error = #expect(throws: SetupError.self) {
            try WNSConfiguration(
                identity: identity, clientSecret: "s", tokenEndpoint: endpoint, allowedHosts: hosts)
        }
        #expect(error?.message.hasPrefix(member) == true)
    }
}
