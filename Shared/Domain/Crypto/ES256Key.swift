package import Crypto
package import Foundations

/// A private key on P-256 that signs with SHA-256 (ES256, RFC 7518, section 3.4): that of signed pushes, a VAPID key, or
/// a key of APNs.
package struct ES256Key: Sendable {
    private let key: P256.Signing.PrivateKey
    /// The point of the public key, 65 bytes, uncompressed (SEC 1, section 2.3.3).
    package let publicPoint: [UInt8]
    /// Names the key in logs and in the rows of devices: 8 hexadecimal digits of a hash of the public key.
    package let id: String

    /// A new key.
    package init() { self.init(P256.Signing.PrivateKey()) }

    /// Reads a key.
    ///
    /// - Parameter pem: the text of a file with one private key in PKCS#8, in a PEM block `PRIVATE KEY`.
    /// - Throws: ``SetupError`` that names the reason and holds nothing of the text.
    package init(pem: String) throws(SetupError) {
        guard let block = try PEMBlock.privateKey(in: pem) else {
            throw Self.refusal("it has no private key, or several")
        }
        guard block.label == "PRIVATE KEY" else {
            throw Self.refusal("convert it with `openssl pkcs8 -topk8 -nocrypt -in FILE -out NEWFILE`")
        }
        guard let der = block.bytes else { throw Self.refusal("its text is damaged") }
        guard let key = try? P256.Signing.PrivateKey(derRepresentation: der) else {
            throw Self.refusal(Self.kind(of: der).map { "it is \($0)" } ?? "its text is damaged")
        }
        self.init(key)
    }

    private init(_ key: P256.Signing.PrivateKey) {
        self.key = key
        publicPoint = [UInt8](key.publicKey.x963Representation)
        id = SHA256.hash(data: publicPoint).prefix(4).hex
    }

    private static func refusal(_ reason: String) -> SetupError {
        SetupError(.malformed, "not a private key on P-256 in PKCS#8 PEM: \(reason)")
    }

    /// Object identifiers in DER (RFC 8017, 8410, 5480).
    private static let kinds: [(identifier: [UInt8], name: String)] = [
        ([0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01], "an RSA key"),
        ([0x06, 0x03, 0x2B, 0x65, 0x70], "an Ed25519 key"), ([0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x22], "on P-384"),
        ([0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x23], "on P-521"),
        ([0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x0A], "on secp256k1"),
    ]

    /// The algorithm is within the first bytes of a key.
    private static func kind(of der: [UInt8]) -> String? {
        let head = der.prefix(40)
        return kinds.first { kind in head.indices.contains { head[$0...].starts(with: kind.identifier) } }?.name
    }

    var point: P256Point { P256Point(key.publicKey) }

    /// The key in PKCS#8 PEM, with a line end.
    package var pem: String { key.pemRepresentation + "\n" }

    /// The public key in base64url, 87 characters: `applicationServerKey` of browsers, `k` of RFC 8292.
    package var publicText: String { Base64.encode(publicPoint, .url) }

    /// A secret for another purpose that only the key gives (HKDF, RFC 5869).
    ///
    /// - Parameter purpose: another one for each use.
    package func secret(for purpose: String) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: key.rawRepresentation), info: Array(purpose.utf8), outputByteCount: 32)
    }

    /// The 64 bytes r‖s of a signature (RFC 7518, section 3.4); `nil` only if the library fails for lack of memory.
    package func signature(of bytes: [UInt8]) -> [UInt8]? {
        (try? key.signature(for: bytes)).map { [UInt8]($0.rawRepresentation) }
    }

    /// A signed token (JWS compact serialization, RFC 7515).
    ///
    /// - Returns: `nil` only if the library fails for lack of memory.
    package func token(header: String, claims: String) -> String? {
        let signed = Base64.encode(header.utf8, .url) + "." + Base64.encode(claims.utf8, .url)
        return signature(of: Array(signed.utf8)).map { signed + "." + Base64.encode($0, .url) }
    }
}
