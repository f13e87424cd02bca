import Foundation

#if canImport(CryptoKit)
import CryptoKit
#else
import Crypto
#endif

/// Hashes of the notifications that were shown or withdrawn and are no longer among the newest: a signed push can be
/// repeated for 28 days, and must not show its secret again.
///
/// A hash has the first 8 bytes of the SHA-256 of the ID, so that thousands take little room. They are stored behind each
/// other, the oldest first.
struct ForgottenIDs: Codable, Sendable, Equatable {
    private(set) var hashes = Data()

    func contains(_ id: PushID) -> Bool {
        let hash = Self.hash(id).withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
        return hashes.withUnsafeBytes { bytes in
            // Left-over bytes are ignored.
            stride(from: 0, through: bytes.count - Self.size, by: Self.size).contains { start in
                bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self) == hash
            }
        }
    }

    /// Notes an ID, and drops the oldest if there are too many.
    mutating func append(_ id: PushID) {
        hashes.append(Self.hash(id))
        // Removed in bulk, because each removal from the front moves all others.
        guard hashes.count > (Self.maxCount + Self.maxCount / 4) * Self.size else { return }
        hashes = Data(hashes.suffix(Self.maxCount * Self.size))
    }

    private static func hash(_ id: PushID) -> Data {
        Data(Data(SHA256.hash(data: Data(id.rawValue.utf8))).prefix(size))
    }

    private static let size = 8
    /// 64 KB in all.
    private static let maxCount = 8_000
}
