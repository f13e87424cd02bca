import Foundation

#if canImport(CryptoKit)
import CryptoKit
#else
import Crypto
#endif

/// The tag of the hub to which the server sends a user's pushes: `username:NAME`. The server adds it to each
/// registration, and refuses an app's own tags that begin like it. Tools that look into the hub need it; apps do not.
public enum UserTag {
    /// The tag of a user; `nil` for a name that no user can have: an empty one, one of more than 1,024 bytes, or one
    /// with a control character.
    ///
    /// `a-z 0-9 _ @ . : -` stay as they are. Every other byte of the UTF-8 form becomes `#` and two digits. A tag of
    /// more than 120 characters has `##` and the SHA-256 of the name instead.
    public static func tag(of userName: String) -> String? {
        guard (1...1_024).contains(userName.utf8.count),
            !userName.unicodeScalars.contains(where: { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) })
        else { return nil }
        let tag =
            "username:" + userName.utf8.map { Self.unchanged.contains($0) ? Self.text($0) : "#" + hex($0) }.joined()
        guard tag.utf8.count > maxLength else { return tag }
        return "username:##" + SHA256.hash(data: Data(userName.utf8)).map(hex).joined()
    }

    private static let unchanged = Set("abcdefghijklmnopqrstuvwxyz0123456789_@.:-".utf8)
    private static let maxLength = 120

    private static func text(_ byte: UInt8) -> String { String(UnicodeScalar(byte)) }

    private static func hex(_ byte: UInt8) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
}
