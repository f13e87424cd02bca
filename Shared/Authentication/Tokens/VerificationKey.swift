internal import Crypto
internal import CryptoExtras

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The signature algorithms of JSON Web Tokens that are served (RFC 7518, RFC 8037). `none` is not one.
enum SignatureAlgorithm: String, CaseIterable, Sendable {
    case hs256 = "HS256"
    case hs384 = "HS384"
    case hs512 = "HS512"
    case rs256 = "RS256"
    case rs384 = "RS384"
    case rs512 = "RS512"
    case ps256 = "PS256"
    case ps384 = "PS384"
    case ps512 = "PS512"
    case es256 = "ES256"
    case es384 = "ES384"
    case es512 = "ES512"
    case edDSA = "EdDSA"
}

/// A key that tokens are checked with, and the algorithms it is for.
///
/// The algorithm is the key's: a token can choose none that its key is not for (RFC 8725, section 3.1).
struct VerificationKey: Sendable {
    enum Material: Sendable {
        case rsa(_RSA.Signing.PublicKey)
        case p256(P256.Signing.PublicKey)
        case p384(P384.Signing.PublicKey)
        case p521(P521.Signing.PublicKey)
        case ed25519(Curve25519.Signing.PublicKey)
        case secret(SymmetricKey)
    }

    let keyID: String?
    let material: Material
    let algorithms: Set<SignatureAlgorithm>

    /// Whether the signature is of the bytes, by this key and with the algorithm.
    func isValid(_ signature: [UInt8], of bytes: [UInt8], with algorithm: SignatureAlgorithm) -> Bool {
        guard algorithms.contains(algorithm) else { return false }
        return switch material {
        case .rsa(let key): Self.isValid(signature, of: bytes, with: algorithm, key)
        case .p256(let key):
            (try? P256.Signing.ECDSASignature(rawRepresentation: signature)).map {
                key.isValidSignature($0, for: SHA256.hash(data: bytes))
            } ?? false
        case .p384(let key):
            (try? P384.Signing.ECDSASignature(rawRepresentation: signature)).map {
                key.isValidSignature($0, for: SHA384.hash(data: bytes))
            } ?? false
        case .p521(let key):
            (try? P521.Signing.ECDSASignature(rawRepresentation: signature)).map {
                key.isValidSignature($0, for: SHA512.hash(data: bytes))
            } ?? false
        case .ed25519(let key): key.isValidSignature(signature, for: bytes)
        case .secret(let key): Self.isValid(signature, of: bytes, with: algorithm, key)
        }
    }

    private static func isValid(
        _ signature: [UInt8], of bytes: [UInt8], with algorithm: SignatureAlgorithm, _ key: _RSA.Signing.PublicKey
    ) -> Bool {
        let signature = _RSA.Signing.RSASignature(rawRepresentation: signature)
        let padding: _RSA.Signing.Padding =
            switch algorithm {
            case .ps256, .ps384, .ps512: .PSS
            default: .insecurePKCS1v1_5
            }
        return switch algorithm {
        case .rs256, .ps256: key.isValidSignature(signature, for: SHA256.hash(data: bytes), padding: padding)
        case .rs384, .ps384: key.isValidSignature(signature, for: SHA384.hash(data: bytes), padding: padding)
        case .rs512, .ps512: key.isValidSignature(signature, for: SHA512.hash(data: bytes), padding: padding)
        default: false
        }
    }

    private static func isValid(
        _ code: [UInt8], of bytes: [UInt8], with algorithm: SignatureAlgorithm, _ key: SymmetricKey
    ) -> Bool {
        switch algorithm {
        case .hs256: HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: bytes, using: key)
        case .hs384: HMAC<SHA384>.isValidAuthenticationCode(code, authenticating: bytes, using: key)
        case .hs512: HMAC<SHA512>.isValidAuthenticationCode(code, authenticating: bytes, using: key)
        default: false
        }
    }
}
