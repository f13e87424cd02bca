public import Foundation
import SecurePushEnvelope

#if canImport(CryptoKit)
import CryptoKit
#else
import Crypto
#endif

/// The public keys that verify pushes: the P-256 keys of a JWK Set (RFC 7517; RFC 7518, section 6.2), as
/// `securepush keys generate --push` writes it and `GET /api/push-keys` returns it.
public struct PushKeySet: Sendable, Hashable, Codable {
    /// The keys: the coordinates x and y, 64 bytes.
    public let keys: [Data]

    /// Why a JWK Set cannot be used.
    public enum Malformed: Error, Sendable, Equatable {
        /// It is longer than ``maxBytes``, or not JSON.
        case unreadable
        /// It has no P-256 key. Keys of other kinds are skipped.
        case empty
        /// It has a private key. Nobody may publish that, so the set is not trusted.
        case privateKey
    }

    /// The longest JWK Set, in bytes.
    public static let maxBytes = 64 << 10
    /// The maximum number of keys; the rest is skipped. It is the server's limit too, so no legal set is cut off.
    public static let maxKeys = 32

    /// Reads a JWK Set.
    ///
    /// - Throws: ``Malformed``.
    public init(jwkSet: Data) throws {
        guard jwkSet.count <= Self.maxBytes else { throw Malformed.unreadable }
        do {
            keys = try AnswerReader.readStrictly(jwkSet) { reader, span in
                guard let list = try reader.members(span)["keys"] else { throw Malformed.unreadable }
                let keys = try reader.elements(list, atMost: .max).compactMap { try? reader.members($0) }
                // RFC 7518, section 6: only private and symmetric keys have these members.
                if keys.contains(where: { $0["d"] != nil || $0["k"] != nil }) { throw Malformed.privateKey }
                return Array(keys.lazy.compactMap { Self.key($0, reader) }.prefix(Self.maxKeys))
            }
        } catch {
            throw error as? Malformed ?? .unreadable
        }
        if keys.isEmpty { throw Malformed.empty }
    }

    /// The coordinates of a key; `nil` for a key of another kind, and for a point that is not on the curve.
    private static func key(_ members: AnswerReader.Members, _ reader: AnswerReader) -> Data? {
        let text = { (name: AnswerReader.Name) in try? members[name].map(reader.string) }
        guard text("kty") == "EC", text("crv") == "P-256", let x = text("x").flatMap({ Base64URL.decode($0) }),
            let y = text("y").flatMap({ Base64URL.decode($0) }), x.count == 32, y.count == 32,
            members["kid"] == nil || (1...128).contains(text("kid")?.utf8.count ?? 0),
            (try? P256.Signing.PublicKey(rawRepresentation: x + y)) != nil
        else { return nil }
        return x + y
    }
}
