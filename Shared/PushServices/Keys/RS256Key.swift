import Crypto
import CryptoExtras
package import Foundations

/// A private RSA key that signs JSON Web Tokens (RS256, RFC 7518, section 3.3): that of a service account of Google.
package struct RS256Key: Sendable {
    private let key: _RSA.Signing.PrivateKey

    private static let minBits = 2_048

    /// Reads a key.
    ///
    /// - Parameter pem: a text with one private key, in PKCS#8 or PKCS#1.
    /// - Throws: ``SetupError`` that names the reason and holds nothing of the text.
    package init(pem: String) throws(SetupError) {
        guard let block = try? PEMBlock.privateKey(in: pem), let der = block.bytes,
            let key = try? _RSA.Signing.PrivateKey(unsafeDERRepresentation: der)
        else { throw SetupError(.malformed, "the key is not an RSA key in PEM without a password.") }
        guard key.keySizeInBits >= Self.minBits else {
            let bits = key.keySizeInBits
            throw SetupError(.malformed, "the RSA key has \(bits) bits, and \(Self.minBits) is the minimum.")
        }
        self.key = key
    }

    /// A signed token (JWS compact serialization, RFC 7515). It takes about a millisecond.
    ///
    /// - Returns: `nil` only if the library fails for lack of memory.
    func token(header: String, claims: String) -> String? {
        let signed = Base64.encode(header.utf8, .url) + "." + Base64.encode(claims.utf8, .url)
        guard let signature = try? key.signature(for: Array(signed.utf8), padding: .insecurePKCS1v1_5) else {
            return nil
        }
        return signed + "." + Base64.encode(signature.rawRepresentation, .url)
    }
}
