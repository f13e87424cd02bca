import HTTPTypes
import HummingbirdTesting
import ServiceConfiguration
import ServiceRuntime
import Testing

@testable import Hub

@Suite struct HostAllowListTests {
    private static let list = HostAllowList(
        listeningHost: "127.0.0.1", allowed: ["hub-emulator", "Emulator.test"], setting: "EMULATOR_ALLOWED_HOSTS")

    @Test(arguments: [
        "localhost", "LOCALHOST:8090", "a.localhost:1", "127.0.0.1:8090", "127.8.9.1", "[::1]:8090", "localhost.",
        "hub-emulator:8090", "emulator.TEST",
    ])
    func `Its own names are allowed`(_ authority: String) {
        #expect(Self.list.allows(authority))
    }

    @Test(arguments: [
        nil, "", "attacker.example", "attacker.example:8090", "localhost.attacker.example",
        "127.0.0.1.attacker.example",
        "localhost@attacker.example", "attacker.example@localhost", "192.0.2.7", "xlocalhost", "127.attacker.example",
        "[2001:db8::1]", "hub-emulator.attacker.example",
    ])
    func `Other names are not`(_ authority: String?) {
        #expect(!Self.list.allows(authority))
    }

    @Test func `Listening on all addresses allows addresses and no names`() {
        for host in ["0.0.0.0", "::"] {
            let list = HostAllowList(listeningHost: host, allowed: [], setting: "EMULATOR_ALLOWED_HOSTS")
            #expect(list.allows("192.0.2.7:8090"))
            #expect(list.allows("[2001:db8::1]:8090"))
            #expect(!list.allows("attacker.example"))
            #expect(!list.allows("1.2.3.4.attacker.example"))
        }
    }

    /// The attack: a page's own name points to this machine, so its requests are of the same origin.
    @Test func `A rebound name reaches nothing`() async throws {
        try await withEmulator(.live) { emulator in
            for (line, body) in [
                ("GET /emulator/messages", ""), ("POST /emulator/faults", #"{"Status":503}"#), ("GET /", ""),
                ("GET /emulator/events", ""), ("DELETE /emulator/messages", ""),
                ("GET /emulator/connection", ""), ("POST /emulator/connection/key", ""),
            ] {
                let request =
                    "\(line) HTTP/1.1\r\nHost: attacker.example\r\nOrigin: http://attacker.example\r\n"
                    + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
                let answer = try await RawExchange.send(request, port: emulator.port)
                #expect(answer.status == 403, "\(line)")
                #expect(answer.headers["content-type"] == "application/problem+json")
                #expect(answer.body.contains("EMULATOR_ALLOWED_HOSTS"))
            }
            #expect(emulator.state.faults.all.isEmpty)
            // The hub's own API asks for a token instead.
            let token = TestToken.make(resource: "http://attacker.example/")
            let hub = "GET /hub/registrations HTTP/1.1\r\nHost: attacker.example\r\nAuthorization: \(token)\r\n\r\n"
            #expect(try await RawExchange.send(hub, port: emulator.port).status == 200)
        }
    }

    @Test func `Further names are configured`() throws {
        var reader = ConfigurationReader(environment: [
            "EMULATOR_ALLOWED_HOSTS": "one.test, two.test", "EMULATOR_ENDPOINT": "http://hub-emulator:8090/",
        ])
        let list = try #require(EmulatorConfiguration.read(&reader)).hostAllowList
        for host in ["one.test", "two.test:1", "hub-emulator:8090", "localhost"] { #expect(list.allows(host)) }
        #expect(!list.allows("three.test"))
        for bad in ["http://one.test", "*.test"] {
            var reader = ConfigurationReader(environment: ["EMULATOR_ALLOWED_HOSTS": bad])
            #expect(EmulatorConfiguration.read(&reader) == nil)
            #expect(reader.issues.map(\.key) == ["EMULATOR_ALLOWED_HOSTS"])
        }
    }
}
