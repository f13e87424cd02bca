import Domain
import Foundation
import Foundations
import Logging
import NIOCore
import OutgoingHTTP
import ServiceConfiguration
import TestSupport
import Testing

@testable import NotificationHubs

/// The way to the hub through a proxy, with a hub that has TLS.
@Suite(.timeLimit(.minutes(5))) struct HubProxyTests {
    private static let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

    /// A hub that only the proxy can find: no resolver knows `hub.test`.
    private func configuration(
        proxy: String, _ certificate: HubCertificate, folder: Bool = false, host: String = "hub.test"
    ) throws -> NotificationHubConfiguration {
        var configuration = try NotificationHubConfiguration(
            connectionString: "Endpoint=https://\(host):8443/;SharedAccessKeyName=Rule;SharedAccessKey=key=",
            hubName: "hub")
        configuration.outgoing.httpsProxy = try OutgoingProxy(proxy)
        configuration.outgoing.authorities =
            folder
            ? TrustedAuthorities(folders: [certificate.folder.path]) : TrustedAuthorities(file: certificate.path)
        return configuration
    }

    private func withProxy(
        response: String? = nil, _ body: (FakeHub, ConnectProxy, HubCertificate) async throws -> Void
    ) async throws {
        try await HubCertificate.with { certificate in
            try await withFakeHub({ _ in [FakeHub.created()] }, tls: try certificate.context()) { hub in
                let proxy = try await ConnectProxy(to: hub.port, response: response)
                do {
                    try await body(hub, proxy, certificate)
                    try await proxy.stop()
                } catch {
                    try? await proxy.stop()
                    throw error
                }
            }
        }
    }

    @Test(arguments: [false, true]) func `Sends go through the tunnel`(folder: Bool) async throws {
        try await withProxy { hub, proxy, certificate in
            let configuration = try configuration(
                proxy: "http://user:hunter2@127.0.0.1:\(proxy.port)", certificate, folder: folder)
            let sender = HubSender(configuration: configuration, concurrency: 2, logger: Self.logger)
            try await withService(sender) { _ in
                for _ in 0..<3 { #expect(await sender.send(.sample).isSent) }
            }
            #expect(hub.requests.count == 3)
            // One tunnel serves several sends.
            let head = "CONNECT hub.test:8443 HTTP/1.1\r\nHost: hub.test:8443\r\n"
            #expect(proxy.heads == [head + "Proxy-Authorization: Basic dXNlcjpodW50ZXIy\r\n\r\n"])
            // The proxy sees TLS (a handshake record), and no credentials of the hub.
            #expect(!proxy.firstBytes.isEmpty && proxy.firstBytes.allSatisfy { $0.prefix(2) == [0x16, 0x03] })
            #expect(hub.requests.allSatisfy { !$0.raw.contains("Proxy-Authorization") })
        }
    }

    @Test func `Registrations go through the tunnel`() async throws {
        try await withProxy { hub, proxy, certificate in
            let configuration = try configuration(proxy: "http://127.0.0.1:\(proxy.port)", certificate)
            let devices = HubDevices(configuration: configuration, logger: Self.logger)
            try await withService(devices) { _ in
                try await devices.deleteInstallation("a")
            }
            #expect(hub.requests.first?.raw.hasPrefix("DELETE /hub/installations/a?") == true)
            #expect(proxy.heads.first?.hasPrefix("CONNECT hub.test:8443 HTTP/1.1\r\n") == true)
        }
    }

    @Test(arguments: [
        (
            "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n",
            "refused the connection to hub.test:8443 (status 407: it wants other credentials)"
        ),
        ("HTTP/1.1 403 Forbidden\r\n\r\n<html>", "refused the connection to hub.test:8443 (status 403)"),
        ("SSH-2.0-OpenSSH_9.2\r\n\r\n", "did not answer as an HTTP proxy"),
        ("HTTP/1.1 200 OK\r\n\r\nmore", "did not answer as an HTTP proxy"), ("", "closed the connection"),
        (String(repeating: "x", count: ProxyTunnel.maxHead + 1), "did not answer as an HTTP proxy"),
        ("HTTP/1.1 200", "did not answer in time"),
    ])
    func `A refusal is not sent and names the proxy`(response: String, problem: String) async throws {
        try await withProxy(response: response) { hub, proxy, certificate in
            let configuration = try configuration(proxy: "http://u:hunter2@127.0.0.1:\(proxy.port)", certificate)
            var options = HubSenderOptions()
            options.connectTimeout = .milliseconds(problem.hasSuffix("in time") ? 200 : 5000)
            let sender = HubSender(
                configuration: configuration, concurrency: 1, logger: Self.logger, options: options)
            try await withService(sender) { _ in
                let reason = "the proxy 127.0.0.1:\(proxy.port) \(problem)"
                for _ in 0..<2 { #expect(await sender.send(.sample) == .notSent(reason: reason)) }
            }
            #expect(hub.requests.isEmpty && hub.connections == 0)
        }
    }

    /// Its certificate would be compared with the proxy's address.
    @Test func `A hub named by its address is not asked for through a proxy`() async throws {
        try await withProxy { hub, proxy, certificate in
            let configuration = try configuration(
                proxy: "http://127.0.0.1:\(proxy.port)", certificate, host: "192.0.2.1")
            let sender = HubSender(configuration: configuration, concurrency: 1, logger: Self.logger)
            try await withService(sender) { _ in
                let reason = "a hub named by its address needs an entry in NO_PROXY"
                #expect(await sender.send(.sample) == .notSent(reason: reason))
            }
            #expect(hub.requests.isEmpty && proxy.heads.isEmpty)
        }
    }

    @Test func `A proxy that is not there`() async throws {
        try await withProxy { hub, proxy, certificate in
            let configuration = try configuration(proxy: "http://127.0.0.1:1", certificate)
            let sender = HubSender(configuration: configuration, concurrency: 1, logger: Self.logger)
            try await withService(sender) { _ in
                let outcome = await sender.send(.sample)
                #expect(outcome == .notSent(reason: "no connection to the proxy 127.0.0.1:1"))
            }
            let devices = HubDevices(configuration: configuration, logger: Self.logger)
            try await withService(devices) { _ in
                let error = await #expect(throws: PushGatewayError.self) { try await devices.deleteInstallation("a") }
                #expect(error?.message.contains("through the proxy 127.0.0.1:1") == true)
            }
            #expect(hub.requests.isEmpty && proxy.heads.isEmpty)
        }
    }

    @Test func `The certificate is the hub's`() async throws {
        try await withProxy { hub, proxy, certificate in
            var configuration = try configuration(proxy: "http://127.0.0.1:\(proxy.port)", certificate)
            // The system's authorities have not signed it.
            configuration.outgoing.authorities = TrustedAuthorities()
            let sender = HubSender(configuration: configuration, concurrency: 1, logger: Self.logger)
            try await withService(sender) { _ in #expect(await sender.send(.sample).isNotSent) }
            #expect(hub.requests.isEmpty)
        }
    }

    /// The tunnel opens, and TLS cannot begin.
    @Test func `A tunnel that cannot be used is closed`() async throws {
        try await withProxy { hub, proxy, certificate in
            var configuration = try configuration(proxy: "http://127.0.0.1:\(proxy.port)", certificate)
            configuration.outgoing.authorities = TrustedAuthorities(file: "/nothing")
            let sender = HubSender(configuration: configuration, concurrency: 1, logger: Self.logger)
            try await withService(sender) { _ in
                #expect(await sender.send(.sample).isNotSent)
                try await expectEventually { proxy.closed >= 1 }
            }
            #expect(hub.requests.isEmpty)
        }
    }

    @Test func `A hub on loopback or by HTTP has no proxy`() throws {
        var configuration = try localHub(port: 1, scheme: "https")
        configuration.outgoing.httpsProxy = try OutgoingProxy("http://p:1")
        configuration.outgoing.httpProxy = try OutgoingProxy("http://p:1")
        #expect(configuration.proxy == nil)
        var emulator = try NotificationHubConfiguration(
            connectionString: "Endpoint=http://emulator:8090/;SharedAccessKeyName=Rule;SharedAccessKey=key=",
            hubName: "hub", insecureHost: "emulator")
        emulator.outgoing = configuration.outgoing
        #expect(emulator.proxy == nil)
    }
}
