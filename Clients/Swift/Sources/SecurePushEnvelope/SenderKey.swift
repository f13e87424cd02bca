public import Foundation

#if canImport(CryptoKit)
import CryptoKit
#else
import Crypto
#endif

/// The private key with which a sender signs envelopes (ES256), so that devices know who has written them. Apps contain
/// the public half, as a JWK Set: ``SenderKeys``.
public struct SenderKey: Sendable {
    private let key: P256.Signing.PrivateKey
    /// The name of the key, 1 to 128 bytes: `from` in the envelope, `kid` in the JWK Set.
    public let id: String

    /// Makes a new key.
    public init() { self.init(P256.Signing.PrivateKey(), id: nil) }

    /// Reads a key.
    ///
    /// - Parameters:
    ///   - pem: PKCS#8 (RFC 5958) of P-256 in PEM, as `securepush keys generate --sender` and `openssl genpkey` write it.
    ///   - id: the `kid`; `nil`: the thumbprint of the public key (RFC 7638).
    /// - Throws: ``EnvelopeError/malformedKey``.
    public init(pem: String, id: String? = nil) throws(EnvelopeError) {
        guard id.map({ (1...128).contains($0.utf8.count) }) ?? true,
            let key = try? P256.Signing.PrivateKey(pemRepresentation: pem)
        else { throw .malformedKey }
        self.init(key, id: id)
    }

    /// Reads the 32 bytes of a key.
    ///
    /// - Parameter id: the `kid`; `nil`: the thumbprint of the public key (RFC 7638).
    /// - Throws: ``EnvelopeError/malformedKey``.
    @_spi(TestVectors) public init(rawRepresentation: Data, id: String? = nil) throws(EnvelopeError) {
        guard let key = try? P256.Signing.PrivateKey(rawRepresentation: rawRepresentation) else { throw .malformedKey }
        self.init(key, id: id)
    }

    private init(_ key: P256.Signing.PrivateKey, id: String?) {
        self.key = key
        self.id = id ?? Base64URL.encode(EnvelopeKey(signing: key.publicKey).thumbprint)
    }

    /// The key as PKCS#8 in PEM: never log it.
    public var pem: String { key.pemRepresentation }

    /// The public half, which apps contain.
    public var publicKey: EnvelopeKey { EnvelopeKey(signing: key.publicKey) }

    /// The JWK Set with the public half, for apps.
    public var jwkSet: String {
        let id = EnvelopeJSON.string(self.id)
        return #"{"keys":[\#(publicKey.jwk.dropLast()),"kid":\#(id),"use":"sig","alg":"ES256"}]}"#
    }

    /// Signs a text.
    ///
    /// - Returns: r and s, 32 bytes each.
    func sign(_ text: Data) throws -> Data { try key.signature(for: text).rawRepresentation }
}

extension EnvelopeKey {
    fileprivate init(signing key: P256.Signing.PublicKey) { x963Representation = key.x963Representation }
}

extension SenderKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A fixed text, so that no log shows the key.
    public var description: String { "sender's private key" }
    /// The same as ``description``, so that a debugger shows no key.
    public var debugDescription: String { description }
    /// No children, so that `dump` shows no secret.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The public keys of the senders whose envelopes a device accepts: the P-256 keys of a JWK Set (RFC 7517) that the app
/// contains.
public struct SenderKeys: Sendable, Hashable {
    let keys: SignatureKeys

    /// Reads a JWK Set, as ``SenderKey/jwkSet`` and `securepush keys generate --sender` write it. Keys of other kinds are
    /// skipped; at most 32 are used.
    ///
    /// - Throws: ``EnvelopeError/malformedKey`` if the set has no usable key, or a private one.
    public init(jwkSet: Data) throws(EnvelopeError) {
        guard let keys = try? SignatureKeys(jwkSet: jwkSet) else { throw .malformedKey }
        self.keys = keys
    }
}
