import Crypto
import Foundation
import SecurePushCore

/// Secrets that nobody chose.
enum RandomSecret {
    /// 96 bits as 24 hex digits: a password that survives every shell and header.
    static func password() -> String { SymmetricKey(size: .bits256).withUnsafeBytes { $0.prefix(12).hex } }

    /// 32 bytes, as the keys of a hub's access rules have them.
    static func base64() -> String { SymmetricKey(size: .bits256).withUnsafeBytes { Data($0).base64EncodedString() } }
}
