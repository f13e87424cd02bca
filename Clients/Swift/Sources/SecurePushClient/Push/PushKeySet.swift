public import Foundation
import SecurePushEnvelope

/// The public keys that verify pushes: the P-256 keys of a JWK Set (RFC 7517; RFC 7518, section 6.2), as
/// `securepush keys generate --push` writes it and `GET /api/push-keys` returns it.
public struct PushKeySet: Sendable, Hashable, Codable {
    /// The keys.
    let keys: SignatureKeys

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

    /// Reads a JWK Set. At most 32 of its keys are used.
    ///
    /// - Throws: ``Malformed``.
    public init(jwkSet: Data) throws {
        do throws(SignatureKeys.Malformed) {
            keys = try SignatureKeys(jwkSet: jwkSet)
        } catch {
            switch error {
            case .unreadable: throw Malformed.unreadable
            case .empty: throw Malformed.empty
            case .privateKey: throw Malformed.privateKey
            }
        }
    }
}
