import Crypto
import Foundation
import NIOSSL
import ServiceConfiguration

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
        let root = P256.Signing.PrivateKey()
        let key = P256.Signing.PrivateKey()
        let authority = try Self.certificate(
            of: root.publicKey, name: "SecurePush local root", signedBy: root, issuer: "SecurePush local root",
            at: now, extensions: Self.rootExtensions(root.publicKey))
        let certificate = try Self.certificate(
            of: key.publicKey, name: hosts.first ?? "localhost", signedBy: root, issuer: "SecurePush local root",
            at: now, extensions: serverExtensions(key.publicKey, root.publicKey))
        for file in files { try SecretFile.remove(file) }
        try SecretFile.create(keyFile, key.pemRepresentation)
        try SecretFile.create(certificateFile, Self.pem(certificate))
        try SecretFile.create(rootFile, Self.pem(authority))
        return files
    }

    /// When the certificate expires.
    func goodUntil() throws -> Date {
        let pem = try Array(SecretFile.readOwn(certificateFile).utf8)
        guard let certificate = try? NIOSSLCertificate.fromPEMBytes(pem).first else {
            throw CommandFailure(
                .configuration, "\(certificateFile) has no PEM certificate.",
                hint: "Remove it and run the command again.")
        }
        return Date(timeIntervalSince1970: TimeInterval(certificate.notValidAfter))
    }

    // MARK: X.509 (RFC 5280)

    private static let signatureAlgorithm = DER.sequence(DER.objectIdentifier(1, 2, 840, 10045, 4, 3, 2))

    private static func certificate(
        of key: P256.Signing.PublicKey, name: String, signedBy signer: P256.Signing.PrivateKey, issuer: String,
        at now: Date, extensions: [UInt8]
    ) throws -> [UInt8] {
        // Valid from an hour ago, for clients whose clock is slow.
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
            // basicConstraints: a CA with path length 0.
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

/// The parts of ASN.1's distinguished encoding rules (ITU-T X.690) that a certificate needs.
enum DER {
    /// Tag, length of the content, content.
    static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        var length: [UInt8] = []
        var rest = content.count
        guard rest >= 128 else { return [tag, UInt8(rest)] + content }
        while rest > 0 {
            length.insert(UInt8(truncatingIfNeeded: rest), at: 0)
            rest >>= 8
        }
        return [tag, 0x80 | UInt8(length.count)] + length + content
    }

    static func sequence(_ elements: [UInt8]...) -> [UInt8] { element(0x30, elements.flatMap { $0 }) }
    static func set(_ elements: [UInt8]...) -> [UInt8] { element(0x31, elements.flatMap { $0 }) }
    static func utf8String(_ text: String) -> [UInt8] { element(0x0C, Array(text.utf8)) }
    static func octetString(_ bytes: [UInt8]) -> [UInt8] { element(0x04, bytes) }
    static func boolean(_ value: Bool) -> [UInt8] { element(0x01, [value ? 0xFF : 0]) }

    /// Whole bytes, without unused bits.
    static func bitString(_ bytes: [UInt8]) -> [UInt8] { element(0x03, [0] + bytes) }

    /// An unsigned number, most significant byte first.
    static func integer(_ bytes: [UInt8]) -> [UInt8] {
        let digits = Array(bytes.drop { $0 == 0 })
        return element(0x02, digits.first.map { $0 >= 0x80 } ?? true ? [0] + digits : digits)
    }

    /// An object identifier whose first two arcs are below 3 and 40.
    static func objectIdentifier(_ arcs: Int...) -> [UInt8] {
        var content = [UInt8(arcs[0] * 40 + arcs[1])]
        for arc in arcs.dropFirst(2) {
            var groups = [UInt8(arc & 0x7F)]
            var rest = arc >> 7
            while rest > 0 {
                groups.insert(UInt8(rest & 0x7F) | 0x80, at: 0)
                rest >>= 7
            }
            content += groups
        }
        return element(0x06, content)
    }

    /// A time in UTC, `2026-11-22T10:00:00Z` in RFC 3339: UTCTime to 2049 and GeneralizedTime from 2050 (RFC 5280,
    /// 4.1.2.5).
    static func time(_ rfc3339: String) -> [UInt8] {
        let digits = rfc3339.filter(\.isNumber).prefix(14) + "Z"
        return digits < "2050" ? element(0x17, Array(digits.dropFirst(2).utf8)) : element(0x18, Array(digits.utf8))
    }
}
