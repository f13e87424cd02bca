import Crypto
package import Foundations

/// The Ed25519 key that signs pushes (`PUSH_SIGNING_KEY_FILE`), in PKCS#8 PEM (RFC 8410).
///
/// The encoding of an Ed25519 key without attributes is 48 bytes: a fixed prefix, which names the algorithm, and the
/// key. CryptoExtras reads it too, but it does not check the algorithm, so it takes an X25519 key for a signing key.
package struct PushSigningKey: Sendable {
    private let key: Curve25519.Signing.PrivateKey

    /// `OneAsymmetricKey` of version 1 with id-Ed25519 and an octet string of 32 bytes.
    private static let prefix: [UInt8] = [
        0x30, 0x2E, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
    ]

    /// A new key.
    package init() { key = Curve25519.Signing.PrivateKey() }

    /// Reads a key.
    ///
    /// - Parameter pem: the text of a file with one private key, in a PEM block `PRIVATE KEY`.
    /// - Throws: ``SetupError``, which holds nothing of the text.
    package init(pem: String) throws(SetupError) {
        guard let block = try PEMBlock.privateKey(in: pem), block.label == "PRIVATE KEY", let der = block.bytes,
            der.count == 48, der.starts(with: Self.prefix),
            let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: der[16...])
        else { throw Self.refusal }
        self.key = key
    }

    private static let refusal = SetupError(
        .malformed, "not an Ed25519 private key in PKCS#8 PEM. Make one with `securepush keys generate --push`.")

    /// The key in PKCS#8 PEM, with a line end.
    package var pem: String {
        let base64 = Base64.encode(Self.prefix + key.rawRepresentation, .standard)
        return "-----BEGIN PRIVATE KEY-----\n\(base64)\n-----END PRIVATE KEY-----\n"
    }

    /// The public key, which verifies the signatures.
    package var publicKey: PushVerificationKey { PushVerificationKey(x: [UInt8](key.publicKey.rawRepresentation)) }

    /// The 64 bytes of a signature (RFC 8032); `nil` if the library fails, which needs a lack of memory.
    func signature(of bytes: [UInt8]) -> [UInt8]? { (try? key.signature(for: bytes)).map { [UInt8]($0) } }
}
