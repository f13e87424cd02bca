import HTTPTypes
import ServiceRuntime

/// The header `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header-07).
enum IdempotencyKeyHeader {
    /// In bytes, without the quotes.
    static let length = 1...255

    /// The key of a request; `nil` without the header.
    ///
    /// The draft writes a key as a structured field's string, `"key"`; most clients write it bare. The two are the same
    /// key.
    ///
    /// - Throws: 400 for a key that is repeated, empty, too long, or not visible ASCII.
    static func value(in fields: HTTPFields) throws(Problem) -> String? {
        let values = fields[values: .idempotencyKey]
        guard let value = values.first else { return nil }
        guard values.count == 1 else { throw .badRequest("The header Idempotency-Key is repeated; give one.") }
        let key = quotedString(value) ?? value
        guard length.contains(key.utf8.count), key.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .badRequest("The header Idempotency-Key must be 1 to 255 visible ASCII characters.")
        }
        return key
    }

    /// The content of a structured field's string (RFC 9651, section 3.3.3); `nil` for what is none.
    private static func quotedString(_ value: String) -> String? {
        let quote = UInt8(ascii: "\""), backslash = UInt8(ascii: "\\")
        let bytes = value.utf8
        guard bytes.count >= 2, bytes.first == quote, bytes.last == quote else { return nil }
        var content: [UInt8] = []
        var isEscaped = false
        for byte in bytes.dropFirst().dropLast() {
            if isEscaped {
                guard byte == quote || byte == backslash else { return nil }
                content.append(byte)
                isEscaped = false
            } else if byte == backslash {
                isEscaped = true
            } else if byte == quote {
                return nil
            } else {
                content.append(byte)
            }
        }
        return isEscaped ? nil : String(decoding: content, as: UTF8.self)
    }
}

extension HTTPField.Name {
    /// Makes a request one that can be repeated.
    static let idempotencyKey = HTTPField.Name("Idempotency-Key")!
    /// `true` in the answer to a repeat.
    static let idempotencyReplay = HTTPField.Name("Idempotency-Replay")!
}
