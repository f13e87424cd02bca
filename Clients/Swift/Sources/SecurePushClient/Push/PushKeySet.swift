public import Foundation
import SecurePushEnvelope

/// The public keys that verify pushes: the Ed25519 keys of a JWK Set (RFC 7517, RFC 8037), as
/// `securepush keys generate --push` writes it and `GET /api/push-keys` returns it.
public struct PushKeySet: Sendable, Hashable, Codable {
    /// The keys, 32 bytes each.
    public let keys: [Data]

    /// Why a JWK Set cannot be used.
    public enum Malformed: Error, Sendable, Equatable {
        /// It is longer than ``maxBytes``, or not JSON.
        case unreadable
        /// It has no Ed25519 key. Keys of other kinds are skipped.
        case empty
        /// It has a private key. Nobody may publish that, so the set is not trusted.
        case privateKey
    }

    /// The longest JWK Set, in bytes.
    public static let maxBytes = 64 << 10
    /// The maximum number of keys; the rest is skipped. It is the server's limit too, so no legal set is cut off.
    public static let maxKeys = 32

    private struct Document: Decodable {
        struct Key: Decodable {
            var kty: String?
            var crv: String?
            var x: String?
            /// A member that only private and symmetric keys have (RFC 7518, section 6), with any value.
            var d: Presence?
            var k: Presence?
        }
        struct Presence: Decodable {
            init(from decoder: any Decoder) {}
        }
        var keys: [Key]
    }

    /// Reads a JWK Set.
    ///
    /// - Throws: ``Malformed``.
    public init(jwkSet: Data) throws {
        guard jwkSet.count <= Self.maxBytes,
            let document = try? JSONDecoder().decode(Document.self, from: jwkSet)
        else { throw Malformed.unreadable }
        if document.keys.contains(where: { $0.d != nil || $0.k != nil }) { throw Malformed.privateKey }
        keys = Array(
            document.keys.lazy.filter { $0.kty == "OKP" && $0.crv == "Ed25519" }
                .compactMap { $0.x.flatMap { Base64URL.decode($0) } }.filter { $0.count == 32 }.prefix(Self.maxKeys))
        if keys.isEmpty { throw Malformed.empty }
    }
}
