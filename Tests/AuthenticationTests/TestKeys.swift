import Crypto
import CryptoExtras
import Foundation
import Foundations

@testable import Authentication

/// A signer of tokens of any kind, and its JSON Web Key.
struct TestKey: Sendable {
    let algorithm: String
    let jwkMembers: String
    let sign: @Sendable ([UInt8]) throws -> [UInt8]

    /// The key's JWK with more members, such as `"kid":"a"`.
    func jwk(_ more: String = "") -> String { "{\(jwkMembers)\(more.isEmpty ? "" : ",")\(more)}" }

    /// A token with this header and these claims, as they are.
    func token(header: String? = nil, claims: String) throws -> String {
        let header = header ?? #"{"alg":"\#(algorithm)"}"#
        let signed = "\(Base64.encode(header.utf8, .url)).\(Base64.encode(claims.utf8, .url))"
        return "\(signed).\(Base64.encode(try sign(Array(signed.utf8)), .url))"
    }

    static func es256() -> TestKey {
        let key = P256.Signing.PrivateKey()
        return TestKey(algorithm: "ES256", jwkMembers: ec("P-256", key.publicKey.rawRepresentation)) {
            Array(try key.signature(for: SHA256.hash(data: $0)).rawRepresentation)
        }
    }

    static func es384() -> TestKey {
        let key = P384.Signing.PrivateKey()
        return TestKey(algorithm: "ES384", jwkMembers: ec("P-384", key.publicKey.rawRepresentation)) {
            Array(try key.signature(for: SHA384.hash(data: $0)).rawRepresentation)
        }
    }

    static func es512() -> TestKey {
        let key = P521.Signing.PrivateKey()
        return TestKey(algorithm: "ES512", jwkMembers: ec("P-521", key.publicKey.rawRepresentation)) {
            Array(try key.signature(for: SHA512.hash(data: $0)).rawRepresentation)
        }
    }

    static func edDSA() -> TestKey {
        let key = Curve25519.Signing.PrivateKey()
        let x = Base64.encode(key.publicKey.rawRepresentation, .url)
        return TestKey(algorithm: "EdDSA", jwkMembers: #""kty":"OKP","crv":"Ed25519","x":"\#(x)""#) {
            Array(try key.signature(for: $0))
        }
    }

    static func rsa(_ algorithm: String, _ key: _RSA.Signing.PrivateKey? = nil) throws -> TestKey {
        let key = try key ?? rsaKey.get()
        let numbers = try key.publicKey.getKeyPrimitives()
        let (n, e) = (Base64.encode(numbers.modulus, .url), Base64.encode(numbers.publicExponent, .url))
        let padding: _RSA.Signing.Padding = algorithm.hasPrefix("PS") ? .PSS : .insecurePKCS1v1_5
        return TestKey(algorithm: algorithm, jwkMembers: #""kty":"RSA","n":"\#(n)","e":"\#(e)""#) { bytes in
            switch algorithm.suffix(3) {
            case "384": Array(try key.signature(for: SHA384.hash(data: bytes), padding: padding).rawRepresentation)
            case "512": Array(try key.signature(for: SHA512.hash(data: bytes), padding: padding).rawRepresentation)
            default: Array(try key.signature(for: SHA256.hash(data: bytes), padding: padding).rawRepresentation)
            }
        }
    }

    static func hmac(_ algorithm: String = "HS256", secret: [UInt8] = Array(repeating: 7, count: 64)) -> TestKey {
        let k = Base64.encode(secret, .url)
        let key = SymmetricKey(data: secret)
        return TestKey(algorithm: algorithm, jwkMembers: #""kty":"oct","k":"\#(k)","alg":"\#(algorithm)""#) { bytes in
            switch algorithm {
            case "HS384": Array(HMAC<SHA384>.authenticationCode(for: bytes, using: key))
            case "HS512": Array(HMAC<SHA512>.authenticationCode(for: bytes, using: key))
            default: Array(HMAC<SHA256>.authenticationCode(for: bytes, using: key))
            }
        }
    }

    /// One for all tests: making RSA keys takes long.
    static let rsaKey = Result { try _RSA.Signing.PrivateKey(keySize: .bits2048) }

    private static func ec(_ curve: String, _ point: Data) -> String {
        let half = point.count / 2
        let (x, y) = (Base64.encode(point.prefix(half), .url), Base64.encode(point.suffix(half), .url))
        return #""kty":"EC","crv":"\#(curve)","x":"\#(x)","y":"\#(y)""#
    }

    /// A key of every algorithm that is served.
    static func make(_ algorithm: String) throws -> TestKey {
        switch algorithm {
        case "ES256": es256()
        case "ES384": es384()
        case "ES512": es512()
        case "EdDSA": edDSA()
        case "HS256", "HS384", "HS512": hmac(algorithm)
        default: try rsa(algorithm)
        }
    }
}

func jwks(_ keys: String...) -> String { #"{"keys":[\#(keys.joined(separator: ","))]}"# }
