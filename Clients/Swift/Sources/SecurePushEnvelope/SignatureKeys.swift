package import Foundation

#if canImport(CryptoKit)
import CryptoKit
#else
import Crypto
#endif

/// The public keys of a JWK Set (RFC 7517) that verify ES256 signatures: those of senders, and those of pushes.
package struct SignatureKeys: Sendable, Hashable, Codable {
    package struct Key: Sendable, Hashable, Codable {
        /// The `kid`, or the thumbprint (RFC 7638) of a key without one.
        package let id: String
        /// The uncompressed point, 65 bytes.
        package let x963Representation: Data
    }

    /// Why a JWK Set cannot be used.
    package enum Malformed: Error, Sendable, Hashable {
        /// It is longer than ``SignatureKeys/maxBytes``, not strict JSON, or no object with an array `keys`.
        case unreadable
        /// It has no usable key. Keys of other kinds are skipped.
        case empty
        /// It has a private or symmetric key. Nobody may publish that, so the set is not trusted.
        case privateKey
    }

    /// The keys in the order of the set; at least one.
    package let keys: [Key]

    /// The longest JWK Set, in bytes.
    package static let maxBytes = 64 << 10
    /// The maximum number of keys; the rest is skipped. It is the server's limit too, so no legal set is cut off.
    package static let maxKeys = 32

    /// Reads a JWK Set.
    ///
    /// - Throws: ``Malformed``.
    package init(jwkSet: Data) throws(Malformed) {
        guard jwkSet.count <= Self.maxBytes, let elements = (try? StrictJSON(jwkSet))?["keys"]?.elements else {
            throw .unreadable
        }
        if elements.contains(where: { $0["d"] != nil || $0["k"] != nil }) { throw .privateKey }
        keys = Array(elements.lazy.compactMap(Self.key).prefix(Self.maxKeys))
        if keys.isEmpty { throw .empty }
    }

    private static func key(_ json: StrictJSON) -> Key? {
        guard let key = try? EnvelopeKey(json) else { return nil }
        guard let kid = json["kid"] else {
            return Key(id: Base64URL.encode(key.thumbprint), x963Representation: key.x963Representation)
        }
        guard let id = kid.text, (1...128).contains(id.utf8.count) else { return nil }
        return Key(id: id, x963Representation: key.x963Representation)
    }

    /// Tells whether one of the keys has signed a text.
    ///
    /// - Parameters:
    ///   - signature: r and s, 32 bytes each (RFC 7518, section 3.4).
    ///   - id: only keys with this `kid` count; `nil`: all of them.
    package func isValid(_ signature: Data, for text: Data, by id: String? = nil) -> Bool {
        guard signature.count == 64, let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
        else { return false }
        return keys.contains { candidate in
            guard id.map({ $0.utf8.elementsEqual(candidate.id.utf8) }) ?? true,
                let key = try? P256.Signing.PublicKey(x963Representation: candidate.x963Representation)
            else { return false }
            return key.isValidSignature(signature, for: text)
        }
    }
}
