import Foundation
import Foundations
import NIOCore
import OutgoingHTTP
import ServiceConfiguration
import StackKit
import Synchronization
import TestSupport
import Testing

@testable import PushServices

/// How connections are made: names, addresses, TLS, and proxies.
@Suite(.timeLimit(.minutes(5))) struct PushDialTests {
    private static func local(_ port: Int, _ address: String = "127.0.0.1") throws -> SocketAddress {
        try SocketAddress(ipAddress: address, port: port)
    }

    @Test func `A name is looked up for each connection`() async throws {
        let lookups = Mutex<[String]>([])
        let change = { @Sendable (configuration: inout PushHTTPClientConfiguration) in
            configuration.lookUp = { host, port in
                lookups.withLock { $0.append(host) }
                return [try Self.local(port)]
            }
        }
        try await withHTTP2(change, answering: { [.answer(201), .goAway(last: $0.stream)] }) { server, client in
            for _ in 0..<3 { #expect(await client.post(port: server.port).status == 201) }
            #expect(lookups.withLock { $0 } == [pushHost, pushHost, pushHost])
        }
    }

    @Test(arguments: [true, false]) func `A name without an address is not sent to`(fails: Bool) async throws {
        let change = { (configuration: inout PushHTTPClientConfiguration) in
            configuration.lookUp = { _, _ in
                if fails { throw PushDialError.noAddress }
                return []
            }
        }
        try await withHTTP2(change, answering: { _ in [.answer(201)] }) { server, client in
            let result = await client.post(port: server.port)
            #expect(result.failure == .notSent(reason: "the name has no address"))
        }
    }

    @Test func `The system's look-up takes names and addresses`() throws {
        #expect(try NameLookups.addresses(of: "127.0.0.1", port: 7) == [Self.local(7)])
        #expect(try NameLookups.addresses(of: "::1", port: 7) == [Self.local(7, "::1")])
        #expect(try !NameLookups.addresses(of: "localhost", port: 7).isEmpty)
        #expect(throws: PushDialError.noAddress) { try NameLookups.addresses(of: "nothing.invalid", port: 7) }
    }

    @Test func `Look-ups have a bound`() async throws {
        let lookups = NameLookups()
        let gate = Mutex(())
        // The threads wait for the lock until all are counted.
        let started = gate.withLock { _ in
            (0...NameLookups.limit).map { _ in lookups.run { gate.withLock { _ in } } }
        }
        #expect(started.filter { $0 }.count == NameLookups.limit && started.last == false)
        try await expectEventually { lookups.run {} }
    }

    @Test func `Only addresses that are allowed are connected to`() async throws {
        let asked = Mutex<[String]>([])
        let change = { @Sendable (configuration: inout PushHTTPClientConfiguration) in
            configuration.lookUp = { _, port in [try Self.local(port, "127.0.0.2"), try Self.local(port)] }
            configuration.isAllowed = { address, origin in
                asked.withLock { $0.append("\(origin.host) \(address.ipAddress ?? "")") }
                return address.ipAddress == "127.0.0.1"
            }
        }
        try await withHTTP2(change, answering: { _ in [.answer(201)] }) { server, client in
            #expect(await client.post(port: server.port).status == 201)
            #expect(asked.withLock { $0 } == ["push.test 127.0.0.2", "push.test 127.0.0.1"])
        }
    }

    @Test func `No connection is made to other addresses`() async throws {
        try await withHTTP2({ $0.isAllowed = { _, _ in false } }, answering: { _ in [.answer(201)] }) {
            server, client in
            let result = await client.post(port: server.port)
            #expect(result.failure == .notSent(reason: "the address is not allowed"))
            #expect(server.connections == 0)
        }
    }

    @Test func `Nobody listens`() async throws {
        try await PushCertificate.with { certificate in
            try await withPushClient(certificate) { client in
                #expect(await client.post(port: 1).failure == .notSent(reason: "no connection"))
            }
        }
    }

    @Test func `A server that says nothing is given up`() async throws {
        try await withSilentListener { port in
            try await PushCertificate.with { certificate in
                try await withPushClient(certificate, { $0.connectTimeout = .milliseconds(200) }) { client in
                    #expect(await client.post(port: port).failure == .notSent(reason: "no connection in time"))
                    let result = await client.post(port: port, within: .milliseconds(50))
                    #expect(result.failure == .notSent(reason: "timeout"))
                }
            }
        }
    }

    // MARK: TLS

    @Test func `A certificate for another name is refused`() async throws {
        try await PushCertificate.with("DNS:else.test") { certificate in
            try await FakeHTTP2Server.with(certificate, { _ in [.answer(201)] }) { server in
                try await withPushClient(certificate) { client in
                    let result = await client.post(port: server.port)
                    #expect(result.failure == .notSent(reason: "the certificate is for another name"))
                    #expect(server.requests.isEmpty)
                }
            }
        }
    }

    @Test(arguments: ["DNS:push.test", "IP:127.0.0.1"])
    func `An address is verified as an address`(names: String) async throws {
        try await PushCertificate.with(names) { certificate in
            try await FakeHTTP2Server.with(certificate, { _ in [.answer(201)] }) { server in
                try await withPushClient(certificate) { client in
                    let result = await client.post(host: "127.0.0.1", port: server.port)
                    #expect((result.status == 201) == names.hasPrefix("IP"))
                }
            }
        }
    }

    @Test func `An authority that is not known is refused`() async throws {
        try await withHTTP2({ $0.outgoing.authorities = TrustedAuthorities() }, answering: { _ in [.answer(201)] }) {
            server, client in
            let result = await client.post(port: server.port)
            #expect(result.failure == .notSent(reason: "TLS failed"))
        }
    }

    @Test func `Authorities of a hub are trusted besides the system's`() async throws {
        try await PushCertificate.with { certificate in
            let pem = try String(contentsOfFile: certificate.path, encoding: .utf8)
            try await FakeHTTP2Server.with(certificate, { _ in [.answer(201)] }) { server in
                let change = { (configuration: inout PushHTTPClientConfiguration) in
                    configuration.outgoing.authorities = TrustedAuthorities()
                    configuration.authorities = pem
                }
                try await withPushClient(certificate, change) { client in
                    #expect(await client.post(port: server.port).status == 201)
                }
            }
        }
    }

    @Test func `Without its authorities a hub trusts nobody`() async throws {
        try await withHTTP2({ $0.authorities = "no certificate" }, answering: { _ in [.answer(201)] }) {
            server, client in
            let result = await client.post(port: server.port)
            #expect(result.failure == .notSent(reason: "caFile has no certificate"))
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `A server without HTTP2 is refused where it is needed`() async throws {
        try await withHTTP1(protocols: [], { $0.versions = .http2 }, answering: { _ in [] }) { server, client in
            let result = await client.post(port: server.port)
            #expect(result.failure == .notSent(reason: "the server does not have this version of HTTP"))
            #expect(server.requests.isEmpty)
        }
    }

    // MARK: Proxies

    @Test func `Connections go through a proxy's tunnel`() async throws {
        try await PushCertificate.with { certificate in
            try await FakeHTTP2Server.with(certificate, { _ in [.answer(201)] }) { server in
                let proxy = try await ConnectProxy(to: server.port)
                let change = { (configuration: inout PushHTTPClientConfiguration) in
                    configuration.outgoing.httpsProxy = try? OutgoingProxy("http://u:p@127.0.0.1:\(proxy.port)")
                    configuration.outgoing.exceptions = (try? ProxyExceptions("other.test")) ?? ProxyExceptions()
                    // The proxy looks the name up.
                    configuration.isAllowed = { _, origin in origin.host == "other.test" }
                }
                try await withPushClient(certificate, change) { client in
                    for _ in 0..<2 { #expect(await client.post(port: 8443).status == 201) }
                    let authority = "push.test:8443"
                    let head = "CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n"
                    #expect(proxy.heads == [head + "Proxy-Authorization: Basic dTpw\r\n\r\n"])
                    #expect(await client.post(host: "other.test", port: server.port).status == 201)
                    #expect(proxy.heads.count == 1)
                }
                try await proxy.stop()
            }
        }
    }

    @Test(arguments: ["HTTP/1.1 403 Forbidden\r\n\r\n", ""])
    func `A proxy that refuses`(response: String) async throws {
        try await PushCertificate.with { certificate in
            let proxy = try await ConnectProxy(to: 1, response: response)
            let change = { (configuration: inout PushHTTPClientConfiguration) in
                configuration.outgoing.httpsProxy = try? OutgoingProxy("http://127.0.0.1:\(proxy.port)")
            }
            try await withPushClient(certificate, change) { client in
                let result = await client.post(port: 8443)
                #expect(result.failure == .notSent(reason: "the proxy does not connect"))
            }
            try await proxy.stop()
        }
    }
}
