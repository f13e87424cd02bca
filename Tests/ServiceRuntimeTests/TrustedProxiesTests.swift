import Foundations
import Hummingbird
import NIOCore
import ServiceConfiguration
import TestSupport
import Testing

@testable import ServiceRuntime

@Suite("TRUSTED_PROXIES", .timeLimit(.minutes(5)))
struct TrustedProxiesTests {
    private static let blocks = "10.0.0.0/8, 2001:db8:1::/48, 192.0.2.7, ::1"

    private func client(
        from peer: String, forwardedFor: String? = nil, forwarded: String? = nil, trusted: String = blocks
    ) throws -> String? {
        let proxies = TrustedProxies()
        proxies.set(try ConfigurationKeys.trustedProxies.parser.parse(trusted) ?? [])
        let peer = try SocketAddress(ipAddress: peer, port: 443)
        return proxies.client(of: peer) { (forwarded, forwardedFor) }?.ipAddress
    }

    @Test(arguments: [
        ("198.51.100.4", "198.51.100.4"), ("198.51.100.4, 10.1.1.1", "198.51.100.4"),
        ("1.1.1.1, 198.51.100.4", "198.51.100.4"), ("1.1.1.1,198.51.100.4,10.0.0.9 ,\t192.0.2.7", "198.51.100.4"),
        ("198.51.100.4:51234", "198.51.100.4"), ("[2001:db8::9]:443", "2001:db8::9"), ("2001:DB8::9", "2001:db8::9"),
        ("2001:db8:1::5, 2001:db8:1::6", "2001:db8:1::5"), ("::ffff:198.51.100.4", "198.51.100.4"),
        ("198.51.100.4, ::ffff:10.0.0.1", "198.51.100.4"), ("[::1]", "::1"),
        // Nobody vouches for what is left of a text that is no address.
        ("198.51.100.4, unknown", "10.0.0.1"), ("198.51.100.4, unknown, 10.0.0.2", "10.0.0.2"), ("", "10.0.0.1"),
        (",", "10.0.0.1"), ("198.51.100.4,", "10.0.0.1"), ("1.2.3", "10.0.0.1"), ("1.2.3.4.5", "10.0.0.1"),
        ("256.1.1.1", "10.0.0.1"), ("010.0.0.1", "10.0.0.1"), ("1.2.3.4:", "10.0.0.1"), ("1.2.3.4:999999", "10.0.0.1"),
        ("1.2.3.4:x", "10.0.0.1"), ("fe80::1%eth0", "10.0.0.1"), ("<script>", "10.0.0.1"), ("'; DROP", "10.0.0.1"),
        ("1.2.3.4\u{0}", "10.0.0.1"), ("１.2.3.4", "10.0.0.1"), ("[1.2.3.4", "10.0.0.1"), ("\"1.2.3.4\"", "10.0.0.1"),
        (Array(repeating: "1.1.1.1", count: 2000).joined(separator: ",") + ",198.51.100.4", "198.51.100.4"),
    ])
    func `X-Forwarded-For is read from its end`(field: String, client: String) throws {
        #expect(try self.client(from: "10.0.0.1", forwardedFor: field) == client)
    }

    @Test(arguments: [
        ("for=198.51.100.4", "198.51.100.4"), ("For=198.51.100.4;proto=https;by=10.0.0.1", "198.51.100.4"),
        (#"for="[2001:db8::9]:4711""#, "2001:db8::9"), (#"proto=http; for="198.51.100.4:80""#, "198.51.100.4"),
        ("for=1.1.1.1, for=198.51.100.4, for=10.0.0.3", "198.51.100.4"),
        (#"for=1.1.1.1;by="a,b;for=2.2.2.2",for=198.51.100.4"#, "198.51.100.4"),
        ("for=_hidden", "10.0.0.1"), ("for=unknown", "10.0.0.1"), ("proto=https", "10.0.0.1"), ("", "10.0.0.1"),
        ("for=198.51.100.4;for=1.1.1.1", "10.0.0.1"), ("for=198.51.100.4, by=x", "10.0.0.1"),
        ("198.51.100.4", "10.0.0.1"), (#"for=1.1.1.1;x="\"""#, "1.1.1.1"), (#"for="1.1.1.1"2"#, "10.0.0.1"),
        // A client's quoted string must not hide what the proxy adds.
        (#"for=1.1.1.1;x=", for=198.51.100.4"#, "10.0.0.1"), (#"for=1.1.1.1;x=", for="198.51.100.4""#, "10.0.0.1"),
        (#"for=1.1.1.1;x="\", for="198.51.100.4:1""#, "10.0.0.1"),
    ])
    func `Forwarded is read from its end`(field: String, client: String) throws {
        #expect(try self.client(from: "10.0.0.1", forwarded: field) == client)
    }

    @Test func `Only trusted peers are believed`() throws {
        for peer in ["198.51.100.1", "11.0.0.1", "192.0.2.8", "2001:db8:2::1", "::2"] {
            #expect(try client(from: peer, forwardedFor: "1.1.1.1") == peer)
            #expect(try client(from: peer, forwarded: "for=1.1.1.1") == peer)
        }
        for peer in ["10.255.255.255", "192.0.2.7", "2001:db8:1:ffff::1", "::1", "::ffff:10.0.0.1"] {
            #expect(try client(from: peer, forwardedFor: "1.1.1.1") == "1.1.1.1")
        }
        #expect(try client(from: "10.0.0.1") == "10.0.0.1")
    }

    /// Most proxies set one of the fields and pass on the other one, which is the client's word.
    @Test func `Fields that disagree are not believed`() throws {
        #expect(try client(from: "10.0.0.1", forwardedFor: "198.51.100.4", forwarded: "for=1.1.1.1") == "10.0.0.1")
        #expect(try client(from: "10.0.0.1", forwardedFor: "198.51.100.4", forwarded: "garbage") == "10.0.0.1")
        #expect(
            try client(from: "10.0.0.1", forwardedFor: "9.9.9.9, 198.51.100.4", forwarded: "for=198.51.100.4:9")
                == "198.51.100.4")
    }

    @Test(arguments: [
        "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/", "10.0.0.0/8/8", "2001:db8::/129", "proxy.example",
        "10.0.0", "10.0.0.1,", ",", "10.0.0.1;10.0.0.2", "*", "10.0.0.1:80", "10.0.0.0/8 10.1.0.0/16", "010.0.0.1",
        "::g",
        "fe80::1%eth0", "/8", "0x0a000001", "10.0.0.0/255.0.0.0",
    ])
    func `Unusable values are refused`(text: String) {
        #expect(throws: ConfigurationRefusal.self) { try ConfigurationKeys.trustedProxies.parser.parse(text) }
    }

    @Test(arguments: [
        ("10.1.2.3/8", "10.200.0.1", true), ("10.1.2.3/8", "11.0.0.1", false), ("0.0.0.0/0", "203.0.113.1", true),
        ("0.0.0.0/0", "2001:db8::1", false), ("::/0", "2001:db8::1", true), ("::ffff:10.0.0.0/104", "10.9.9.9", true),
        ("::ffff:10.0.0.0/104", "11.9.9.9", false), ("192.0.2.128/25", "192.0.2.129", true),
        ("192.0.2.128/25", "192.0.2.127", false), ("2001:db8::/33", "2001:db8:8000::", false), ("[::1]", "::1", true),
    ])
    func `A block holds the addresses with its prefix`(block: String, address: String, isInside: Bool) throws {
        let block = try #require(AddressBlock(block))
        #expect(block.contains(try #require(NetworkAddress(address))) == isInside)
    }

    @Test func `Requests and limits have the client's address`() async throws {
        try await withLimitedServer(
            {
                $0.trustedProxies = [AddressBlock("127.0.0.0/8")].compactMap(\.self)
                $0.maxConnectionsPerAddress = 1
                $0.maxWaitingBodiesPerAddress = 1
            },
            routes: { router in router.get("/who") { _, context in context.clientAddress?.description ?? "nobody" } },
            { server in
                // More than one connection of the proxy, and requests of several clients on one.
                let connections = try (0..<3).map { _ in try server.connect() }
                for (number, connection) in connections.enumerated() {
                    connection.send("GET /who HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 198.51.100.\(number)\r\n\r\n")
                    #expect(try await connection.receives("198.51.100.\(number)"))
                }
                let first = connections[0]
                first.send(
                    "GET /who HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 9.9.9.9\r\nx-forwarded-for: 2001:db8::5\r\n\r\n")
                #expect(try await first.receives("2001:db8:0:0::/64"))
                #expect(server.closed(.evicted) == 0 && server.closed(.address) == 0)
                // Waiting bodies are those of the client.
                let head = "POST /collected HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 203.0.113"
                for connection in connections[0...1] { connection.send(head + ".5\r\nContent-Length: 9\r\n\r\n") }
                try await expectEventually { server.closed(.waiting) == 1 }
                connections[2].send(head + ".6\r\nContent-Length: 3\r\n\r\n12")
                connections[2].send("3")
                #expect(try await connections[2].receives("3 bytes"))
            })
    }
}
