package import Foundations

/// The key that signs pushes (`PUSH_SIGNING_KEY_FILE`): P-256, in PKCS#8 PEM.
package struct PushSigningKey: Sendable {
    private let key: ES256Key

    /// A new key.
    package init() { key = ES256Key() }

    /// Reads a key; see ``ES256Key/init(pem:)``.
    ///
    /// - Throws: ``SetupError``, which holds nothing of the text.
    package init(pem: String) throws(SetupError) {
        do {
            key = try ES256Key(pem: pem)
        } catch {
            throw SetupError(error.code, "\(error.message). Make one with `securepush keys generate --push`.")
        }
    }

    /// The key in PKCS#8 PEM, with a line end.
    package var pem: String { key.pem }

    /// The public key, which verifies the signatures.
    package var publicKey: PushVerificationKey { PushVerificationKey(point: key.point) }

    /// The 64 bytes of a signature; see ``ES256Key/signature(of:)``.
    func signature(of bytes: [UInt8]) -> [UInt8]? { key.signature(of: bytes) }
}
