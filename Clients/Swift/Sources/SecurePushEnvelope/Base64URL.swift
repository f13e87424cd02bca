package import Foundation

/// Base64 with `-` and `_` and without padding (RFC 4648, section 5), decoded strictly: each value has one text.
package enum Base64URL {
    /// Decodes a text.
    ///
    /// - Parameter maxLength: longer texts are refused unread. Keys and signatures have at most 86 characters.
    /// - Returns: `nil` unless the text is exactly what ``encode(_:)`` makes of the value.
    package static func decode(_ text: String, maxLength: Int = 1_024) -> Data? {
        guard text.utf8.count <= maxLength, !text.utf8.contains(where: { "+/=".utf8.contains($0) }) else { return nil }
        var standard = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        while standard.utf8.count % 4 != 0 { standard += "=" }
        // Foundation ignores bits beyond the last byte, so the value is encoded again and compared.
        guard let data = Data(base64Encoded: standard), encode(data) == text else { return nil }
        return data
    }

    /// Encodes bytes.
    package static func encode(_ data: Data) -> String {
        data.base64EncodedString().replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
    }
}
