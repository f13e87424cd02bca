import Crypto
import Foundations

/// A user's name: 1 to 1,024 bytes of UTF-8 without control characters.
///
/// Names are compared byte for byte. For Swift's `String`, canonically equivalent texts are equal: a user whose "é" is
/// one scalar could read the secrets of a user whose "é" is two.
package struct UserName: Sendable {
    package let text: String

    /// The message to a client about any other text.
    package static let requirement = "A recipient is 1 to 1,024 bytes of UTF-8 without control characters."

    /// Checks a name.
    ///
    /// - Returns: `nil` if it is empty, longer than 1,024 bytes, or has a control character (C0, DEL or C1).
    package init?(_ text: String) {
        guard (1...1024).contains(text.utf8.count) else { return nil }
        for scalar in text.unicodeScalars {
            if scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) { return nil }
        }
        self.text = text
    }
}

extension UserName: Hashable {
    package static func == (lhs: UserName, rhs: UserName) -> Bool { lhs.text.utf8.elementsEqual(rhs.text.utf8) }

    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension UserName: CustomStringConvertible {
    package var description: String { text }
}

extension UserName {
    /// The hub tag that addresses this user's devices, `username:NAME`.
    ///
    /// The tag header of a send is an expression, and the hub ignores the case of tags. So NAME is encoded injectively:
    /// `a-z 0-9 _ @ . : -` stay as they are, and every other byte of the UTF-8 form is `#` and two lower-case hex
    /// digits. A tag that would exceed the hub's limit of 120 characters has `##` and the SHA-256 of the name in hex
    /// instead.
    package var tag: String {
        let prefix = "username:"
        var name = text
        let encoded = name.withUTF8 { name in
            // One allocation, and none for a short name.
            String(unsafeUninitializedCapacity: prefix.utf8.count + 3 * name.count) { tag in
                var count = 0
                func append(_ byte: UInt8) {
                    tag[count] = byte
                    count += 1
                }
                for byte in prefix.utf8 { append(byte) }
                for byte in name {
                    if UserName.tagBytes.contains(byte) {
                        append(byte)
                    } else {
                        append(UInt8(ascii: "#"))
                        append(hexDigit(byte >> 4))
                        append(hexDigit(byte & 15))
                    }
                }
                return count
            }
        }
        if encoded.utf8.count > UserName.maxTagLength {
            return prefix + "##" + SHA256.hash(data: [UInt8](text.utf8)).hex
        }
        return encoded
    }

    private static let tagBytes = ByteSet("abcdefghijklmnopqrstuvwxyz0123456789_@.:-")

    /// The hub's limit for a tag, in characters.
    static let maxTagLength = 120
}
