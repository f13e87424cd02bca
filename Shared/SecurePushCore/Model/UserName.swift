/// A user's name: 1 to 1,024 bytes of UTF-8 without control characters.
///
/// Names are compared byte for byte. Swift's `String` holds canonically equivalent texts equal, which would give
/// "é" written in one way the secrets of "é" written in the other; this type does not.
public struct UserName: Sendable {
    public let text: String

    /// - Returns: `nil` for a name that is empty, longer than 1,024 bytes or holds a control character (C0, DEL or C1).
    public init?(_ text: String) {
        guard (1...1024).contains(text.utf8.count) else { return nil }
        for scalar in text.unicodeScalars {
            if scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) { return nil }
        }
        self.text = text
    }
}

extension UserName: Hashable {
    public static func == (lhs: UserName, rhs: UserName) -> Bool { lhs.text.utf8.elementsEqual(rhs.text.utf8) }

    public func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension UserName: CustomStringConvertible {
    public var description: String { text }
}
