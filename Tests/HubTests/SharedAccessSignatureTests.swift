import Foundations
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import Hub

@Suite struct SharedAccessSignatureTests {
    @Test(arguments: TestToken.clients) func `Every client's token is good`(_ client: TestToken) async throws {
        try await withEmulator { emulator in
            for path in ["/hub/messages?api-version=2020-06", "/hub/messages/?api-version=2020-06"] {
                let token = client.make(
                    url: "http://127.0.0.1:8090\(path)", rule: SharedAccessRule.defaultFullName, key: testKey,
                    expiry: Timestamp.now.seconds + 300)
                let response = try await emulator.call(
                    .post, path, headers: [HubHeaders.format: "apple"], body: "{}", authorization: token)
                #expect(response.status == .created, "\(response.text)")
            }
        }
    }

    @Test(arguments: TestToken.clients) func `Names with blanks are found`(_ client: TestToken) throws {
        let rule = SharedAccessRule(name: "My (best) rule~!*'", primaryKey: "k", rights: .full)
        let authorizer = HubAuthorizer(rules: [rule], endpointHost: "127.0.0.1")
        let url = "http://127.0.0.1:8090/hub/a b"
        let token = client.make(url: url, rule: rule.name, key: "k", expiry: Timestamp.now.seconds + 300)
        try authorizer.authorize(token, authority: "127.0.0.1:8090", path: "/hub/a%20b", right: .send)
    }

    @Test(arguments: TestToken.clients) func `A wrong key is refused`(_ client: TestToken) {
        let rule = SharedAccessRule(name: "rule", primaryKey: "k", rights: .full)
        let authorizer = HubAuthorizer(rules: [rule], endpointHost: "127.0.0.1")
        let token = client.make(
            url: "http://127.0.0.1/hub", rule: "rule", key: "K", expiry: Timestamp.now.seconds + 300)
        let error = #expect(throws: HubError.self) {
            try authorizer.authorize(token, authority: nil, path: "/hub/messages", right: .send)
        }
        #expect(error?.detail == TokenFault.invalidSignature.detail)
    }

    @Test func `Both keys are good`() throws {
        let rule = SharedAccessRule(name: "r", primaryKey: "one", secondaryKey: "two", rights: .full)
        let authorizer = HubAuthorizer(rules: [rule], endpointHost: "127.0.0.1")
        for key in ["one", "two"] {
            let token = TestToken.make(rule: "r", key: key)
            try authorizer.authorize(token, authority: nil, path: "/hub", right: .manage)
        }
    }

    /// Otherwise a thousand of them take as much memory as a client likes.
    @Test func `A token is remembered only if it is short`() throws {
        let rule = SharedAccessRule(name: "r", primaryKey: "k", rights: .full)
        let authorizer = HubAuthorizer(rules: [rule], endpointHost: "127.0.0.1")
        let path = "/hub/" + String(repeating: "x", count: 3_000)
        for _ in 0..<2 {
            let token = TestToken.make(rule: "r", key: "k", resource: "http://127.0.0.1\(path)")
            try authorizer.authorize(token, authority: nil, path: path, right: .send)
            #expect(authorizer.rememberedCount == 0)
        }
        try authorizer.authorize(
            TestToken.make(rule: "r", key: "k"), authority: nil, path: "/hub", right: .send)
        #expect(authorizer.rememberedCount == 1)
    }

    @Test func `The key is text and no base64`() throws {
        let rule = SharedAccessRule(name: "r", primaryKey: "not base64 at all ~", rights: .full)
        let authorizer = HubAuthorizer(rules: [rule], endpointHost: "127.0.0.1")
        let token = TestToken.make(rule: "r", key: "not base64 at all ~")
        try authorizer.authorize(token, authority: nil, path: "/hub", right: .manage)
    }

    @Test(
        arguments: [
            (nil, TokenFault.missingToken), ("", .missingToken), ("Bearer x", .malformedToken),
            ("SharedAccessSignature", .malformedToken), ("SharedAccessSignature sr", .malformedToken),
            ("SharedAccessSignature sr=a&sr=b&sig=c&se=1&skn=r", .malformedToken),
            ("SharedAccessSignature sig=c&se=1&skn=r", .audienceNotFound),
            ("SharedAccessSignature sr=a&sig=c&skn=r", .expiresOnNotFound),
            ("SharedAccessSignature sr=a&se=1&skn=r", .signatureNotFound),
            ("SharedAccessSignature sr=a&sig=c&se=1", .issuerNotFound),
            ("SharedAccessSignature sr=a&sig=c&se=soon&skn=r", .malformedToken),
            ("SharedAccessSignature sr=a&sig=AAAA&se=1&skn=nobody", .invalidSignature),
            ("SharedAccessSignature sr=a&sig=%%%&se=1&skn=r", .invalidSignature),
        ] as [(String?, TokenFault)])
    func `Bad tokens name their fault`(_ authorization: String?, _ fault: TokenFault) async throws {
        try await withEmulator { emulator in
            let response = try await emulator.call(.get, "/hub/registrations/1", authorization: authorization)
            #expect(response.status == .unauthorized)
            #expect(response.text.hasPrefix("<Error><Code>401</Code><Detail>"))
            #expect(response.detail?.hasPrefix(XMLWriter.escape(fault.detail)) == true, "\(response.text)")
            #expect(response.detail?.contains("TrackingId:") == true)
        }
    }

    @Test func `An expired token is refused after a small skew`() throws {
        let rule = SharedAccessRule(name: "r", primaryKey: "k", rights: .full)
        let authorizer = HubAuthorizer(rules: [rule], endpointHost: "127.0.0.1")
        let token = TestToken(client: "").make(url: "http://127.0.0.1", rule: "r", key: "k", expiry: 1000)
        func authorize(at seconds: Int64) throws {
            try authorizer.authorize(
                token, authority: nil, path: "/", right: .send, now: Timestamp(milliseconds: seconds * 1000))
        }
        try authorize(at: 1000 + HubAuthorizer.clockSkewSeconds)
        #expect(throws: HubError.self) { try authorize(at: 1001 + HubAuthorizer.clockSkewSeconds) }
    }

    @Test func `The wrong right is forbidden without a body`() async throws {
        try await withEmulator { emulator in
            let token = TestToken.make(rule: SharedAccessRule.defaultListenName, key: emulator.listenKey)
            let send = try await emulator.call(
                .post, "/hub/messages", headers: [HubHeaders.format: "apple"], body: "{}", authorization: token)
            #expect(send.status == .forbidden)
            #expect(send.text.isEmpty)
            #expect(send.headers[HubHeaders.trackingID]?.isEmpty == false)
            #expect(send.headers[HubHeaders.correlationID]?.isEmpty == false)
            let all = try await emulator.call(.get, "/hub/registrations", authorization: token)
            #expect(all.status == .forbidden)
            let tagged = try await emulator.call(.get, "/hub/tags/a/registrations", authorization: token)
            #expect(tagged.status == .forbidden)
            let own = try await emulator.call(
                .get, "/hub/registrations?$filter=ChannelUri+eq+'x'", authorization: token)
            #expect(own.status == .ok)
        }
    }
}
