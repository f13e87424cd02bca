import Testing

@testable import Hub

@Suite struct TokenAudienceTests {
    @Test(
        arguments: [
            ("http%3a%2f%2fHOST.test%2fHub%2f", "host.test", ["hub"]),
            ("sb%3A%2F%2Fhost.test", "host.test", []),
            ("https%3a%2f%2fhost.test%3a8443%2fhub%3fapi-version%3d1", "host.test", ["hub"]),
            ("http%3a%2f%2fuser%40host.test%2fhub", "host.test", ["hub"]),
            ("http%253a%252f%252fhost.test%252fhub", "host.test", ["hub"]),
            ("http%3a%2f%2fhost.test%2fhub%2ftags%2f%257bx%257d", "host.test", ["hub", "tags", "{x}"]),
            ("http%3a%2f%2fhost.test%2fa+b", "host.test", ["a b"]),
            ("http%3a%2f%2f%5b%3a%3a1%5d%3a80%2fhub", "[::1]", ["hub"]),
        ] as [(String, String, [String])])
    func `Reads resources`(_ resource: String, _ host: String, _ segments: [String]) {
        let audience = TokenAudience(resource: resource)
        #expect(audience.host == host)
        #expect(audience.segments == segments)
    }

    /// Who has a key of an app could otherwise make the hub go over a long text thousands of times.
    @Test func `A resource that is escaped again and again is not decoded to its end`() {
        var resource = "http%3a%2f%2fh%2fhub"
        for _ in 0..<20 { resource = resource.replacing("%", with: "%25") }
        #expect(TokenAudience(resource: resource).host != "h")
    }

    @Test(
        arguments: [
            ("http://h/hub", "/hub/messages", true), ("http://h/hub/", "/HUB/messages/", true),
            ("http://h/", "/hub", true), ("http://h/hub", "/hub2/messages", false),
            ("http://h/hub/messages", "/hub", false), ("http://h/hub/x%20y", "/hub/x%2520y", true),
            ("http://h/hub/%7B1%7D", "/hub/%257b1%257D", true), ("http://h/a/b", "/a%2Fb", false),
        ] as [(String, String, Bool)])
    func `Covers whole segments`(_ url: String, _ path: String, _ covered: Bool) {
        let segments = TokenAudience.segments(ofPath: path)
        #expect(TokenAudience(url: url).covers(pathSegments: segments) == covered)
    }

    @Test func `Another host is not covered`() {
        let rule = SharedAccessRule(name: "r", primaryKey: "k", rights: .full)
        let authorizer = HubAuthorizer(rules: [rule], endpointHost: "127.0.0.1")
        let token = TestToken.make(rule: "r", key: "k", resource: "http://other.test/hub")
        let error = #expect(throws: HubError.self) {
            try authorizer.authorize(token, authority: "127.0.0.1", path: "/hub", right: .send)
        }
        #expect(error?.detail == TokenFault.invalidAudience.detail)
    }

    @Test func `The endpoint's name is good whatever the host header`() throws {
        let rule = SharedAccessRule(name: "r", primaryKey: "k", rights: .full)
        let authorizer = HubAuthorizer(rules: [rule], endpointHost: "Hub-Emulator")
        for host in ["hub-emulator", "localhost"] {
            let token = TestToken.make(rule: "r", key: "k", resource: "sb://\(host)/")
            try authorizer.authorize(token, authority: "localhost:8090", path: "/hub", right: .send)
        }
    }
}
