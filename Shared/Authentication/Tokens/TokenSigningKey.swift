internal import Crypto
internal import SecurePushCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The key that signs this system's own tokens: ECDSA on P-256, `ES256` (`AUTH_TOKEN_SIGNING_KEY_FILE`).
public struct TokenSigningKey: Sendable {
    private let key: P256.Signing.PrivateKey
    /// The key's public half, as tokens are checked with it.
    let keySet: VerificationKeySet
    /// The `kid` of its tokens: the thumbprint of the public key (RFC 7638).
    public let keyID: String

    /// - Parameter pem: PKCS#8 (`BEGIN PRIVATE KEY`).
    /// - Throws: ``AuthenticationSetupError`` `malformed`.
    public init(pem: String) throws {
        do {
            self.init(try P256.Signing.PrivateKey(pemRepresentation: pem))
        } catch {
            throw AuthenticationSetupError(.malformed, "not a P-256 private key in PKCS#8 PEM")
        }
    }

    /// - Throws: ``AuthenticationSetupError``: `unreadable`, `malformed`.
    public init(path: String) throws {
        guard let pem = try PrivateFile.read(path) else {
            throw AuthenticationSetupError(.unreadable, "there is no file \(path)")
        }
        try self.init(pem: pem)
    }

    private init(_ key: P256.Signing.PrivateKey) {
        self.key = key
        keyID = Base64.encode(SHA256.hash(data: Array(Self.requiredMembers(key).utf8)), .url)
        let verification = VerificationKey(keyID: keyID, material: .p256(key.publicKey), algorithms: [.es256])
        keySet = VerificationKeySet(keys: [verification])
    }

    /// Makes a new key in a new file of mode 0600.
    ///
    /// - Throws: ``AuthenticationSetupError``: `alreadyExists` (a key is never overwritten), `unwritable`.
    @discardableResult
    public static func make(at path: String) throws -> TokenSigningKey {
        let key = P256.Signing.PrivateKey()
        try PrivateFile.edit(path) { text in
            guard text == nil else { throw AuthenticationSetupError(.alreadyExists, "there is a file \(path)") }
            return (key.pemRepresentation + "\n", ())
        }
        return TokenSigningKey(key)
    }

    /// The JSON Web Key Set (RFC 7517) of the public key, for others who check the tokens.
    public var publicJWKS: String {
        var json = JSONWriter()
        json.open("{")
        let (x, y) = Self.coordinates(key)
        for (name, value) in [("kty", "EC"), ("crv", "P-256"), ("x", x), ("y", y), ("kid", keyID), ("use", "sig")] {
            json.member(name, value)
        }
        json.member("alg", SignatureAlgorithm.es256.rawValue)
        json.close("}")
        return #"{"keys":[\#(json.text)]}"#
    }

    /// A signed token in compact form (RFC 7515, 7.1), with exactly these claims.
    public func sign(_ claims: TokenClaims) throws -> String {
        var header = JSONWriter()
        header.open("{")
        header.member("alg", SignatureAlgorithm.es256.rawValue)
        header.member("typ", "JWT")
        header.member("kid", keyID)
        header.close("}")
        let signed = Base64.encode(header.text.utf8, .url) + "." + Base64.encode(claims.json.utf8, .url)
        let signature = try key.signature(for: SHA256.hash(data: Array(signed.utf8)))
        return signed + "." + Base64.encode(signature.rawRepresentation, .url)
    }

    /// The members that make up the thumbprint, in the order of their names and without blanks.
    private static func requiredMembers(_ key: P256.Signing.PrivateKey) -> String {
        let (x, y) = coordinates(key)
        return #"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#
    }

    private static func coordinates(_ key: P256.Signing.PrivateKey) -> (x: String, y: String) {
        let point = key.publicKey.rawRepresentation
        return (Base64.encode(point.prefix(32), .url), Base64.encode(point.suffix(32), .url))
    }
}
