import Crypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension PayloadKeyRing {
    /// A line of a key ring file with a fresh random key, without a line end. Its ID is the day and 24 random bits, as
    /// in `2026-11-21-9f3c04`, so that an operator sees the age of a key.
    public static func newLine(at time: Timestamp = .now) -> String {
        var generator = SystemRandomNumberGenerator()
        let suffix = (0..<3).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        return newLine(id: "\(time.description.prefix(10))-\(suffix.hex)")
    }

    /// A line of a key ring file with a fresh random key under an ID of one's own; see ``Key/id``.
    public static func newLine(id: String) -> String {
        let key = SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) }
        return "\(id) \(key.base64EncodedString())"
    }
}
