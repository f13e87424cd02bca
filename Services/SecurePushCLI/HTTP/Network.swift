import ArgumentParser
import AsyncHTTPClient
import Foundation
import NIOSSL
import SecurePushCore
import ServiceConfiguration

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

/// How a command connects to services: the trusted authorities.
///
/// It is the same for every connection of a run, so the commands do not hand it on: ``ConsoleCommand`` sets
/// ``current``.
struct Network: Sendable {
    /// Outside of a command, in tests: the system's authorities.
    @TaskLocal static var current = Network(tls: OutgoingTLS.configuration)

    let tls: TLSConfiguration
    /// Its connections are shared by all requests: at most eight per host.
    let client: HTTPClient

    private init(tls: TLSConfiguration) {
        self.tls = tls
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
        // Fails at once if nothing listens, instead of retrying until the timeout.
        configuration.connectionPool.retryConnectionEstablishment = false
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Runs a command with its options.
    ///
    /// - Throws: ``CommandFailure`` with code `configuration` if a file of authorities cannot be used.
    static func with(
        _ options: NetworkOptions, _ environment: [String: String] = ProcessInfo.processInfo.environment,
        _ body: () async throws -> Void
    ) async throws {
        let network = Network(tls: try configuration(caFile: options.caFile, environment))
        do {
            try await $current.withValue(network) { try await body() }
        } catch {
            try? await network.client.shutdown()
            throw error
        }
        try? await network.client.shutdown()
    }

    /// The authorities of `SSL_CERT_FILE` and `SSL_CERT_DIR` replace the system's, as they do for OpenSSL; those of
    /// `--ca-file` are trusted too.
    static func configuration(caFile: String?, _ environment: [String: String]) throws -> TLSConfiguration {
        var tls = OutgoingTLS.configuration
        let file = environment["SSL_CERT_FILE"].flatMap { $0.isEmpty ? nil : $0 }
        let folder = environment["SSL_CERT_DIR"].flatMap { $0.isEmpty ? nil : $0 }
        if let file { tls.trustRoots = .certificates(try certificates(file, of: "SSL_CERT_FILE")) }
        if let folder {
            guard SecretFile.exists(folder) else {
                throw CommandFailure(.configuration, "SSL_CERT_DIR: \(folder.printable) does not exist.")
            }
            if file == nil { tls.trustRoots = .file(folder) } else { tls.additionalTrustRoots.append(.file(folder)) }
        }
        if let caFile { tls.additionalTrustRoots.append(.certificates(try certificates(caFile, of: "--ca-file"))) }
        return tls
    }

    private static func certificates(_ path: String, of name: String) throws -> [NIOSSLCertificate] {
        let certificates: [NIOSSLCertificate]
        do {
            certificates = try NIOSSLCertificate.fromPEMBytes(Array(FileContent(path: path).text.utf8))
        } catch let error as FileError {
            throw CommandFailure(.configuration, "\(name): \(error)")
        } catch {
            throw CommandFailure(
                .configuration, "\(name): \(path.printable) holds no certificate in PEM.",
                hint: "It begins with -----BEGIN CERTIFICATE-----.")
        }
        return certificates
    }
}
