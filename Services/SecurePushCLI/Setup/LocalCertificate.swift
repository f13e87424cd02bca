import Crypto
import Foundation
import NIOSSL

/// A TLS certificate for the hub emulator on this machine, for clients that take `https` only.
///
/// It is signed by a root of its own, which clients are told to trust. The root's private key is not kept: nobody can
/// sign anything else with it later, so trusting it is trusting this one certificate.
struct LocalCertificate: Sendable {
    /// How long a certificate is good.
    static let validity = 365 * 86_400
    /// It is made anew when it is good for less than this.
    static let renewal = 30 * 86_400

    /// PEM files (RFC 7468).
    var rootFile: String
    var certificateFile: String
    var keyFile: String
    /// Names and IP addresses that it is for.
    var hosts: [String]

    /// Makes the three files, unless they are there and good for a while.
    ///
    /// - Returns: the files that were made.
    func make(now: Date = Date()) throws -> [String] {
        let files = [rootFile, certificateFile, keyFile]
        if files.allSatisfy(SecretFile.exists), try goodUntil() > now + TimeInterval(Self.renewal) { return [] }
        let root = P256.Signing.PrivateKey()
        let key = P256.Signing.PrivateKey()
        let authority = try Self.certificate(
            of: root.publicKey, name: "SecurePush local root", signedBy: root, issuer: "SecurePush local root",
            at: now, extensions: Self.rootExtensions(root.publicKey))
        let certificate = try Self.certificate(
            of: key.publicKey, name: hosts.first ?? "localhost", signedBy: root, issuer: "SecurePush local root",
            at: now, extensions: serverExtensions(key.publicKey, root.publicKey))
        for file in files where SecretFile.exists(file) { try FileManager.default.removeItem(atPath: file) }
        try SecretFile.create(keyFile, key.pemRepresentation)
        try SecretFile.create(certificateFile, Self.pem(certificate))
        try SecretFile.create(rootFile, Self.pem(authority))
        return files
    }

    /// When the certificate ends.
    func goodUntil() throws -> Date {
        guard let certificate = try? NIOSSLCertificate.fromPEMFile(certificateFile).first else {
            throw CommandFailure(
                .configuration, "\(certificateFile) holds no PEM certificate.",
                hint: "Remove it and run this again.")
        }
        return Date(timeIntervalSince1970: TimeInterval(certificate.notValidAfter))
    }

    // MARK: X.509 (RFC 5280)

    private static let signatureAlgorithm = DER.sequence(DER.objectIdentifier(1, 2, 840, 10045, 4, 3, 2))

    private static func certificate(
        of key: P256.Signing.PublicKey, name: String, signedBy signer: P256.Signing.PrivateKey, issuer: String,
        at now: Date, extensions: [UInt8]
    ) throws -> [UInt8] {
        // A little earlier, for clocks that are behind.
        let validity = DER.sequence(
            DER.time((now - 3600).ISO8601Format()), DER.time((now + TimeInterval(validity)).ISO8601Format()))
        let serial = SymmetricKey(size: .bits128).withUnsafeBytes { [0x40 | ($0[0] & 0x3F)] + Array($0.dropFirst()) }
        let body = DER.sequence(
            DER.element(0xA0, DER.integer([2])), DER.integer(serial), signatureAlgorithm, Self.name(issuer), validity,
            Self.name(name), Array(key.derRepresentation), DER.element(0xA3, extensions))
        let signature = try signer.signature(for: body)
        return DER.sequence(body, signatureAlgorithm, DER.bitString(Array(signature.derRepresentation)))
    }

    private static func name(_ text: String) -> [UInt8] {
        DER.sequence(DER.set(DER.sequence(DER.objectIdentifier(2, 5, 4, 3), DER.utf8String(text))))
    }

    private static func rootExtensions(_ key: P256.Signing.PublicKey) -> [UInt8] {
        DER.sequence(
            // basicConstraints: a root of one certificate, none below it.
            extensionField(19, DER.sequence(DER.boolean(true), DER.integer([0])), isCritical: true),
            // keyUsage: keyCertSign, the sixth bit.
            extensionField(15, DER.element(0x03, [2, 0x04]), isCritical: true),
            extensionField(14, DER.octetString(identifier(key))))
    }

    private func serverExtensions(_ key: P256.Signing.PublicKey, _ root: P256.Signing.PublicKey) -> [UInt8] {
        DER.sequence(
            Self.extensionField(19, DER.sequence(), isCritical: true),
            // keyUsage: digitalSignature, the first bit.
            Self.extensionField(15, DER.element(0x03, [7, 0x80]), isCritical: true),
            // extKeyUsage: serverAuth.
            Self.extensionField(37, DER.sequence(DER.objectIdentifier(1, 3, 6, 1, 5, 5, 7, 3, 1))),
            Self.extensionField(17, DER.element(0x30, hosts.flatMap(Self.alternativeName))),
            Self.extensionField(14, DER.octetString(Self.identifier(key))),
            Self.extensionField(35, DER.sequence(DER.element(0x80, Self.identifier(root)))))
    }

    /// An extension of arc 2.5.29.
    private static func extensionField(_ arc: Int, _ value: [UInt8], isCritical: Bool = false) -> [UInt8] {
        DER.sequence(
            DER.objectIdentifier(2, 5, 29, arc), isCritical ? DER.boolean(true) : [], DER.octetString(value))
    }

    /// `iPAddress` or `dNSName`.
    private static func alternativeName(_ host: String) -> [UInt8] {
        var four = in_addr()
        if inet_pton(AF_INET, host, &four) == 1 { return DER.element(0x87, withUnsafeBytes(of: four) { Array($0) }) }
        var six = in6_addr()
        if inet_pton(AF_INET6, host, &six) == 1 { return DER.element(0x87, withUnsafeBytes(of: six) { Array($0) }) }
        return DER.element(0x82, Array(host.utf8))
    }

    /// 160 bits of the key's SHA-256 (RFC 7093, 2, method 1).
    private static func identifier(_ key: P256.Signing.PublicKey) -> [UInt8] {
        Array(SHA256.hash(data: key.x963Representation).prefix(20))
    }

    private static func pem(_ bytes: [UInt8]) -> String {
        let text = Array(Data(bytes).base64EncodedString())
        let lines = stride(from: 0, to: text.count, by: 64).map { String(text[$0..<min($0 + 64, text.count)]) }
        return (["-----BEGIN CERTIFICATE-----"] + lines + ["-----END CERTIFICATE-----"]).joined(separator: "\n")
    }
}
