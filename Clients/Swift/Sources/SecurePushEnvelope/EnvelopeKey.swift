public import Foundation

#if canImport(CryptoKit)
import CryptoKit
#else
import Crypto
#endif

/// The public key of a device, with which senders encrypt for it: X25519 (RFC 7748), as a JSON Web Key (RFC 8037).
///
/// The device registers it with `PUT /api/devices/{installationId}/key`; a sender gets it from
/// `GET /api/recipients/{name}/keys`.
public struct EnvelopeKey: Sendable, Hashable {
    /// The 32 bytes of the key.
    public let rawRepresentation: Data

    /// Reads the bytes of a key.
    ///
    /// - Throws: ``EnvelopeError/malformedKey``, also for a point of low order, with which every secret would be zero.
    public init(rawRepresentation: Data) throws(EnvelopeError) {
        guard rawRepresentation.count == 32, !Self.isOfLowOrder(rawRepresentation) else { throw .malformedKey }
        self.rawRepresentation = Data(rawRepresentation)
    }

    /// Reads a JSON Web Key: `{"kty":"OKP","crv":"X25519","x":"…"}`. Other members are ignored, but a private key is
    /// refused.
    ///
    /// - Throws: ``EnvelopeError/malformedKey``.
    public init(jwk: Data) throws(EnvelopeError) {
        guard jwk.count <= Self.maxBytes, let document = try? JSONDecoder().decode(KeyDocument.self, from: jwk),
            document.kty == "OKP", document.crv == "X25519", document.d == nil,
            let bytes = Base64URL.decode(document.x)
        else { throw .malformedKey }
        try self.init(rawRepresentation: bytes)
    }

    /// The JSON Web Key, with the members `kty`, `crv` and `x`.
    public var jwk: String { "{\"kty\":\"OKP\",\"crv\":\"X25519\",\"x\":\"\(Base64URL.encode(rawRepresentation))\"}" }

    /// The longest JSON Web Key, in bytes.
    static let maxBytes = 4 << 10

    /// Tells whether an exchange with the key yields zero. The library says so, and no list of points is needed.
    private static func isOfLowOrder(_ bytes: Data) -> Bool {
        guard let key = try? Curve25519.KeyAgreement.PublicKey(rawRepresentation: bytes),
            let secret = try? Curve25519.KeyAgreement.PrivateKey().sharedSecretFromKeyAgreement(with: key)
        else { return true }
        return secret.withUnsafeBytes { $0.allSatisfy { $0 == 0 } }
    }
}

/// The private key of a device, which opens what senders have encrypted for it. It never leaves the device.
public struct EnvelopePrivateKey: Sendable {
    let key: Curve25519.KeyAgreement.PrivateKey

    /// Makes a new key.
    public init() { key = Curve25519.KeyAgreement.PrivateKey() }

    /// Reads the 32 bytes of a key.
    ///
    /// - Throws: ``EnvelopeError/malformedKey``.
    public init(rawRepresentation: Data) throws(EnvelopeError) {
        guard rawRepresentation.count == 32,
            let key = try? Curve25519.KeyAgreement.PrivateKey(rawRepresentation: rawRepresentation)
        else { throw .malformedKey }
        self.key = key
    }

    /// The 32 bytes of the key: never log them.
    public var rawRepresentation: Data { key.rawRepresentation }

    /// The key for senders.
    public var publicKey: EnvelopeKey { EnvelopeKey(key.publicKey) }
}

extension EnvelopeKey {
    /// The public key of a private one, which is never of low order.
    fileprivate init(_ key: Curve25519.KeyAgreement.PublicKey) { rawRepresentation = key.rawRepresentation }
}

extension EnvelopePrivateKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A fixed text, so that no log shows the key.
    public var description: String { "private key" }
    /// The same as ``description``, so that a debugger shows no key.
    public var debugDescription: String { description }
    /// No children, so that `dump` shows no secret.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// A JSON Web Key, as far as it matters here.
private struct KeyDocument: Decodable {
    var kty: String
    var crv: String
    var x: String
    var d: String?
}
