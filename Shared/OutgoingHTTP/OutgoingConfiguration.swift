package import NIOSSL
package import ServiceConfiguration

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// How connections to other servers are made: the authorities that they trust, and the proxies that they go through.
///
/// It is for the hub and the key set. RabbitMQ and PostgreSQL are reached without a proxy.
package struct OutgoingConfiguration: Sendable {
    package var authorities = TrustedAuthorities()
    package var httpsProxy: OutgoingProxy?
    package var httpProxy: OutgoingProxy?
    /// The hosts that are reached without a proxy (`NO_PROXY`).
    package var exceptions = ProxyExceptions()

    /// The system's authorities, and no proxy.
    package init() {}

    package var tls: TLSConfiguration { OutgoingTLS.configuration(trusting: authorities) }

    /// The proxy to a server. This machine is always reached without one.
    package func proxy(to host: String, port: Int, usesTLS: Bool) -> OutgoingProxy? {
        guard let proxy = usesTLS ? httpsProxy : httpProxy else { return nil }
        return InsecureLink.isLoopback(host) || exceptions.contains(host, port: port) ? nil : proxy
    }

    /// The proxy to the server of an `https` or `http` URL; `nil` too if it cannot be read.
    package func proxy(to url: String) -> OutgoingProxy? {
        guard let url = URL(string: url), let host = url.host(), let scheme = url.scheme?.lowercased() else {
            return nil
        }
        let usesTLS = scheme == "https"
        return proxy(to: host, port: url.port ?? (usesTLS ? 443 : 80), usesTLS: usesTLS)
    }
}

extension OutgoingConfiguration {
    /// Reads the proxies and the trusted authorities. The reader holds the issues of those that are not valid.
    package static func read(_ reader: inout ConfigurationReader) -> OutgoingConfiguration {
        var configuration = OutgoingConfiguration()
        configuration.httpsProxy = proxy(&reader, \.httpsProxy, orFile: \.httpsProxyFile)
        configuration.httpProxy = proxy(&reader, \.httpProxy, orFile: \.httpProxyFile)
        configuration.exceptions = reader[\.noProxy] ?? ProxyExceptions()
        configuration.authorities = TrustedAuthorities(
            file: reader[\.sslCertFile], folders: TrustedAuthorities.folders(reader[\.sslCertDir] ?? ""))
        if let file = configuration.authorities.file,
            (try? NIOSSLCertificate.certificates(inFile: file))?.isEmpty != false
        {
            reader.note(\.sslCertFile, "names a file without a certificate in PEM")
        }
        let folders = configuration.authorities.folders
        if !folders.isEmpty, folders.allSatisfy({ TrustedAuthorities.certificates(in: $0).isEmpty }) {
            reader.note(\.sslCertDir, "names no folder with a certificate in PEM")
        }
        return configuration
    }

    private static func proxy(
        _ reader: inout ConfigurationReader, _ key: KeyPath<ConfigurationKeys, ConfigurationKey<String?>>,
        orFile fileKey: KeyPath<ConfigurationKeys, ConfigurationKey<String?>>
    ) -> OutgoingProxy? {
        guard let text = reader[key, orFile: fileKey] else { return nil }
        do {
            return try OutgoingProxy(text)
        } catch {
            reader.note(key, error.problem)
            return nil
        }
    }
}
