import Foundations
package import NIOSSL
package import ServiceConfiguration

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The authorities whose certificates are trusted on connections to other servers.
package struct TrustedAuthorities: Sendable, Hashable {
    /// A file of authorities in PEM (`SSL_CERT_FILE`), or none.
    package var file: String?
    /// Folders of such files (`SSL_CERT_DIR`).
    package var folders: [String]

    /// Without a file and a folder, the system's authorities are trusted; with one, only those in it.
    package init(file: String? = nil, folders: [String] = []) {
        self.file = file
        self.folders = folders
    }

    /// The authorities that the environment of this process names, as OpenSSL reads it.
    package init(_ environment: SettingsEnvironment) {
        file = environment[ConfigurationKeys.sslCertFile.name]
        folders = Self.folders(environment[ConfigurationKeys.sslCertDir.name] ?? "")
    }

    static func folders(_ text: String) -> [String] { text.split(separator: ":").map(String.init) }

    /// The maximum number of files that are read of a folder.
    static let maxFiles = 10_000

    /// All certificates in a folder's files. Unlike OpenSSL this needs no names that are hashes, so a mounted secret of
    /// Kubernetes will do. Files that hold no certificate are left out.
    static func certificates(in folder: String) -> [NIOSSLCertificate] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.sorted().prefix(maxFiles).flatMap { name in
            (try? NIOSSLCertificate.certificates(inFile: "\(folder)/\(name)")) ?? []
        }
    }

    /// The certificates of a file. Without any, the path itself: a context cannot be made of it, so nothing is trusted.
    fileprivate static func roots(of file: String) -> NIOSSLTrustRoots {
        let certificates = (try? NIOSSLCertificate.certificates(inFile: file)) ?? []
        return certificates.isEmpty ? .file(file) : .certificates(certificates)
    }

    /// The number of certificates in a text in PEM.
    package static func count(inPEM text: String) -> Int {
        ((try? NIOSSLCertificate.fromPEMBytes(Array(text.utf8))) ?? []).count
    }

    /// `nil` for the system's.
    fileprivate var roots: NIOSSLTrustRoots? {
        if let file, folders.isEmpty { return Self.roots(of: file) }
        return folders.isEmpty ? nil : .certificates(folders.flatMap(Self.certificates(in:)))
    }
}

/// The TLS settings of every connection to another server, except those of librabbitmq and libpq.
package enum OutgoingTLS {
    /// TLS 1.2 or newer (RFC 8996 forbids older versions), with certificates and names verified. It trusts the
    /// authorities that the environment of this process names, otherwise the system's.
    package static var configuration: TLSConfiguration {
        configuration(trusting: TrustedAuthorities(SettingsEnvironment(ProcessInfo.processInfo.environment)))
    }

    /// The signatures of servers that are accepted: BoringSSL's own list, and Ed25519 and P-521, with which our servers
    /// take certificates too.
    package static let signatureAlgorithms: [SignatureAlgorithm] = [
        .ecdsaSecp256R1Sha256, .rsaPssRsaeSha256, .rsaPkcs1Sha256, .ecdsaSecp384R1Sha384, .rsaPssRsaeSha384,
        .rsaPkcs1Sha384, .ed25519, .ecdsaSecp521R1Sha512, .rsaPssRsaeSha512, .rsaPkcs1Sha512, .rsaPkcs1Sha1,
    ]

    /// The TLS settings that trust the given authorities.
    ///
    /// A file that cannot be read or holds no certificate is an error when a context is made of the configuration.
    package static func configuration(trusting authorities: TrustedAuthorities) -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        configuration.verifySignatureAlgorithms = signatureAlgorithms
        configuration.certificateVerification = .fullVerification
        if let roots = authorities.roots { configuration.trustRoots = roots }
        if let file = authorities.file, !authorities.folders.isEmpty {
            let certificates = (try? NIOSSLCertificate.certificates(inFile: file)) ?? []
            configuration.additionalTrustRoots = [certificates.isEmpty ? .file(file) : .certificates(certificates)]
        }
        return configuration
    }
}

extension NIOSSLCertificate {
    /// The certificates of a file in PEM, which may begin with a byte order mark; BoringSSL would not find the first
    /// certificate behind it.
    ///
    /// - Throws: `FileError`, or an error of NIOSSL if there is no certificate.
    package static func certificates(inFile path: String) throws -> [NIOSSLCertificate] {
        try fromPEMBytes(Array(FileContent(path: path).text.utf8))
    }
}
