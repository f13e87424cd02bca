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
    }

    /// The longest JWK Set, in bytes.
    public static let maxBytes = 64 << 10
    /// How many keys are used. More are skipped.
    public static let maxKeys = 16

    private struct Document: Decodable {
        struct Key: Decodable {
            var kty: String?
            var crv: String?
            var x: String?
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
        keys = Array(
            document.keys.lazy.filter { $0.kty == "OKP" && $0.crv == "Ed25519" }
                .compactMap { $0.x.flatMap { Base64URL.decode($0) } }.filter { $0.count == 32 }.prefix(Self.maxKeys))
        if keys.isEmpty { throw Malformed.empty }
    }
}
