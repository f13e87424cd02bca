import Foundation
import SecurePushCore

/// The text in which a store keeps a registration's tags: a JSON array of strings, in their order.
enum TagsCoding {
    static func encode(_ tags: [String]) -> String {
        var bytes = [UInt8(ascii: "[")]
        for (position, tag) in tags.enumerated() {
            if position > 0 { bytes.append(UInt8(ascii: ",")) }
            JSONText.append(tag, to: &bytes)
        }
        bytes.append(UInt8(ascii: "]"))
        return String(decoding: bytes, as: UTF8.self)
    }

    /// - Throws: ``StorageError`` with code `failed` for a text that this program did not write.
    static func decode(_ text: String) throws(StorageError) -> [String] {
        guard let tags = try? JSONDecoder().decode([String].self, from: Data(text.utf8)) else {
            throw StorageError(.failed, "A registration's tags cannot be read.")
        }
        return tags
    }
}
