package import NIOSSL

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// How connections to other servers are made: the authorities that they trust, and the proxies that they go through.
///
/// It is for the hub and the key set. RabbitMQ and PostgreSQL are reached without a proxy.
package struct OutgoingConfiguration: Sendable {
    /// The authorities of certificates.
    package var authorities = TrustedAuthorities()
    /// The proxy for `https` (`HTTPS_PROXY`).
    package var httpsProxy: OutgoingProxy?
    /// The proxy for `http` (`HTTP_PROXY`).
    package var httpProxy: OutgoingProxy?
    /// The hosts that are reached without a proxy (`NO_PROXY`).
    package var exceptions = ProxyExceptions()

    /// The system's authorities, and no proxy.
    package init() {}

    /// The TLS settings.
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
    /// The keys that ``read(_:)`` uses, for a service's list.
    package static var keys: [any ConfigurationKeyDescription] {
        [
            ConfigurationKeys.httpsProxy, ConfigurationKeys.httpsProxyFile, ConfigurationKeys.httpProxy,
            ConfigurationKeys.httpProxyFile, ConfigurationKeys.noProxy, ConfigurationKeys.sslCertFile,
            ConfigurationKeys.sslCertDir,
        ]
    }

    /// Reads the proxies and the trusted authorities. The reader holds the issues of those that are not valid.
    package static func read(_ reader: inout ConfigurationReader) -> OutgoingConfiguration {
        var configuration = OutgoingConfiguration()
        configuration.httpsProxy = proxy(
            &reader, ConfigurationKeys.httpsProxy, orFile: ConfigurationKeys.httpsProxyFile)
        configuration.httpProxy = proxy(&reader, ConfigurationKeys.httpProxy, orFile: ConfigurationKeys.httpProxyFile)
        configuration.exceptions = reader.read(ConfigurationKeys.noProxy) ?? ProxyExceptions()
        configuration.authorities = TrustedAuthorities(
            file: reader.read(ConfigurationKeys.sslCertFile),
            folders: TrustedAuthorities.folders(reader.read(ConfigurationKeys.sslCertDir) ?? ""))
        if let file = configuration.authorities.file,
            (try? NIOSSLCertificate.certificates(inFile: file))?.isEmpty != false
        {
            reader.note(ConfigurationKeys.sslCertFile.name, "names a file without a certificate in PEM")
        }
        let folders = configuration.authorities.folders
        if !folders.isEmpty, folders.allSatisfy({ TrustedAuthorities.certificates(in: $0).isEmpty }) {
            reader.note(ConfigurationKeys.sslCertDir.name, "names no folder with a certificate in PEM")
        }
        return configuration
    }

    private static func proxy(
        _ reader: inout ConfigurationReader, _ key: ConfigurationKey<String>, orFile fileKey: ConfigurationKey<String>
    ) -> OutgoingProxy? {
        guard let text = reader.read(key, orFile: fileKey) else { return nil }
        do {
            return try OutgoingProxy(text)
        } catch {
            reader.note(key.name, error.problem)
            return nil
        }
    }
}
