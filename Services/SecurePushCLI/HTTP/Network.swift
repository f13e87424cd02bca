import ArgumentParser
import AsyncHTTPClient
import Foundations
import NIOCore
import NIOSSL
import OutgoingHTTP
import ServiceConfiguration
import Synchronization

/// Which authorities a command trusts when it connects to a service.
struct NetworkOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Trust the authorities in this PEM file too, beside the system's or those of SSL_CERT_FILE.",
            valueName: "file"), completion: .file(), transform: filePath)
    var caFile: String?
}

protocol NetworkCommand: ConsoleCommand {
    var network: NetworkOptions { get }
}

/// How a command connects to services: the trusted authorities, and the proxies.
///
/// It is the same for every connection of a run, so the commands do not hand it on: ``ConsoleCommand`` sets
/// ``current``.
struct Network: Sendable {
    /// Outside of a command, in tests: the system's authorities, and no proxy.
    @TaskLocal static var current = Network(OutgoingConfiguration(), trusting: [])

    private let tls: TLSConfiguration
    private let outgoing: OutgoingConfiguration
    private let clients = Clients()

    private init(_ outgoing: OutgoingConfiguration, trusting authorities: [NIOSSLCertificate]) {
        self.outgoing = outgoing
        var tls = outgoing.tls
        if !authorities.isEmpty { tls.additionalTrustRoots.append(.certificates(authorities)) }
        self.tls = tls
    }

    /// Runs a command with its options, and with the settings of the environment for outgoing connections.
    ///
    /// - Throws: ``CommandFailure`` with code `configuration` if a file of authorities or a proxy cannot be used.
    static func with(
        _ options: NetworkOptions, _ settings: Settings = Settings(), _ body: () async throws -> Void
    ) async throws {
        let network = Network(
            try settings.outgoing(), trusting: try options.caFile.map { try certificates($0) } ?? [])
        do {
            try await $current.withValue(network) { try await body() }
        } catch {
            await network.clients.shutdown()
            throw error
        }
        await network.clients.shutdown()
    }

    func proxy(to url: String) -> OutgoingProxy? { outgoing.proxy(to: url) }

    /// The client for a URL. Its connections are shared by all requests: at most eight per host.
    ///
    /// - Parameter idle: see ``configuration(for:idle:)``.
    func client(for url: String, idle: Duration = Self.longestSilence) -> HTTPClient {
        clients.client(Clients.Kind(proxy: proxy(to: url), idle: idle)) { configuration(for: url, idle: idle) }
    }

    /// How long a stream may be silent. The hub emulator writes a comment every 15 seconds.
    static let longestSilence = Duration.seconds(60)

    /// The settings of a client for a URL, without those of its connections.
    ///
    /// It follows no redirect: the payload and the credentials go to no other host than the one that was named.
    ///
    /// - Parameters:
    ///   - url: the client uses the proxy to it; `nil` for none.
    ///   - idle: how long the server may send nothing.
    func configuration(for url: String? = nil, idle: Duration = Self.longestSilence) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls, redirectConfiguration: .disallow)
        configuration.timeout.connect = .seconds(10)
        configuration.timeout.read = TimeAmount(idle)
        // Fails at once if nothing listens, instead of retrying until the timeout.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.proxy = url.flatMap { proxy(to: $0) }?.setting
        return configuration
    }

    private static func certificates(_ path: String) throws -> [NIOSSLCertificate] {
        let text = try CommandFailure.naming("--ca-file") { try FileContent(path: path).text }
        do {
            return try NIOSSLCertificate.fromPEMBytes(Array(text.utf8))
        } catch {
            throw CommandFailure(
                .configuration, "--ca-file: \(path.printable) holds no certificate in PEM.",
                hint: "It begins with -----BEGIN CERTIFICATE-----.")
        }
    }

    /// One client per proxy and time limit, made when it is needed: AsyncHTTPClient takes these for all requests of a
    /// client.
    private final class Clients: Sendable {
        struct Kind: Hashable {
            var proxy: OutgoingProxy?
            var idle: Duration
        }

        private let made = Mutex<[Kind: HTTPClient]>([:])

        func client(_ kind: Kind, _ configuration: () -> HTTPClient.Configuration) -> HTTPClient {
            made.withLock { made in
                if let client = made[kind] { return client }
                let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration())
                made[kind] = client
                return client
            }
        }

        func shutdown() async {
            let all = made.withLock { made in
                defer { made = [:] }
                return Array(made.values)
            }
            for client in all { try? await client.shutdown() }
        }
    }
}
