import ArgumentParser
import AsyncHTTPClient
import NIOSSL
import SecurePushCore
import ServiceConfiguration
import Synchronization

/// Which authorities a command trusts when it connects to a service.
struct NetworkOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Trust the authorities in this PEM file too, beside the system's or those of SSL_CERT_FILE.",
            valueName: "file"))
    var caFile: String?
}

/// A command that connects to services over HTTP.
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

    let tls: TLSConfiguration
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

    /// The proxy between this machine and the server of a URL.
    func proxy(to url: String) -> OutgoingProxy? { outgoing.proxy(to: url) }

    /// The client for a URL. Its connections are shared by all requests: at most eight per host.
    func client(for url: String) -> HTTPClient {
        clients.client(through: proxy(to: url)) { configuration(for: url) }
    }

    /// The settings of a client for a URL, without those of its connections.
    func configuration(for url: String) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
        // Fails at once if nothing listens, instead of retrying until the timeout.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.proxy = proxy(to: url)?.setting
        return configuration
    }

    private static func certificates(_ path: String) throws -> [NIOSSLCertificate] {
        do {
            return try NIOSSLCertificate.fromPEMBytes(Array(FileContent(path: path).text.utf8))
        } catch let error as FileError {
            throw CommandFailure(.configuration, "--ca-file: \(error)")
        } catch {
            throw CommandFailure(
                .configuration, "--ca-file: \(path.printable) holds no certificate in PEM.",
                hint: "It begins with -----BEGIN CERTIFICATE-----.")
        }
    }

    /// One client per proxy, made when it is needed: AsyncHTTPClient takes the proxy for all requests of a client.
    private final class Clients: Sendable {
        private let made = Mutex<[OutgoingProxy?: HTTPClient]>([:])

        func client(
            through proxy: OutgoingProxy?, _ configuration: () -> HTTPClient.Configuration
        ) -> HTTPClient {
            made.withLock { made in
                if let client = made[proxy] { return client }
                let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration())
                made[proxy] = client
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
