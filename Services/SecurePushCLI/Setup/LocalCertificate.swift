import Crypto
import Foundation
import ServiceConfiguration
import SwiftASN1
import X509

/// A TLS certificate for the hub emulator on this machine, for clients that accept only `https`.
///
/// Its own root signs it, and clients must trust that root. The root's private key is not stored, so it can never sign
/// another certificate.
struct LocalCertificate: Sendable {
    /// In seconds.
    static let validity = 365 * 86_400
    /// Renewed when less than this is left, in seconds.
    static let renewal = 30 * 86_400

    /// PEM files (RFC 7468).
    var rootFile: String
    var certificateFile: String
    var keyFile: String
    /// Host names and IP addresses.
    var hosts: [String]

    /// Creates the three files, unless they exist and need no renewal yet.
    ///
    /// - Returns: the new files.
    func make(now: Date = Date()) throws -> [String] {
        let files = [rootFile, certificateFile, keyFile]
        if files.allSatisfy(SecretFile.exists), try goodUntil() > now + TimeInterval(Self.renewal) { return [] }
        let (root, key) = (P256.Signing.PrivateKey(), P256.Signing.PrivateKey())
        let rootName = try Self.name("SecurePush local root")
        let rootIdentifier = SubjectKeyIdentifier(hash: .init(root.publicKey))
        func certificate(
            of key: P256.Signing.PublicKey, _ name: DistinguishedName, _ extensions: Certificate.Extensions
        ) throws -> String {
            // Valid from an hour ago, for clients whose clock is slow.
            let certificate = try Certificate(
                version: .v3, serialNumber: .init(), publicKey: .init(key), notValidBefore: now - 3600,
                notValidAfter: now + TimeInterval(Self.validity), issuer: rootName, subject: name,
                signatureAlgorithm: .ecdsaWithSHA256, extensions: extensions, issuerPrivateKey: .init(root))
            return try certificate.serializeAsPEM().pemString
        }
        let authority = try certificate(
            of: root.publicKey, rootName,
            .init {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true))
                rootIdentifier
            })
        let server = try certificate(
            of: key.publicKey, try Self.name(hosts.first ?? "localhost"),
            .init {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth])
                SubjectAlternativeNames(hosts.map(Self.alternativeName))
                SubjectKeyIdentifier(hash: .init(key.publicKey))
                AuthorityKeyIdentifier(keyIdentifier: rootIdentifier.keyIdentifier)
            })
        for file in files { try SecretFile.remove(file) }
        try SecretFile.create(keyFile, key.pemRepresentation)
        try SecretFile.create(certificateFile, server)
        try SecretFile.create(rootFile, authority)
        return files
    }

    func goodUntil() throws -> Date {
        let pem = try SecretFile.readOwn(certificateFile)
        guard let certificate = try? Certificate(pemEncoded: pem) else {
            throw CommandFailure(
                .configuration, "\(certificateFile) has no PEM certificate.",
                hint: "Remove it and run the command again.")
        }
        return certificate.notValidAfter
    }

    private static func name(_ text: String) throws -> DistinguishedName { try DistinguishedName { CommonName(text) } }

    private static func alternativeName(_ host: String) -> GeneralName {
        var four = in_addr()
        if inet_pton(AF_INET, host, &four) == 1 { return address(of: four) }
        var six = in6_addr()
        return inet_pton(AF_INET6, host, &six) == 1 ? address(of: six) : .dnsName(host)
    }

    private static func address<Value>(of value: Value) -> GeneralName {
        .ipAddress(ASN1OctetString(contentBytes: withUnsafeBytes(of: value) { ArraySlice($0) }))
    }
}
