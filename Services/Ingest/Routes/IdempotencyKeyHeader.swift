import HTTPTypes
import RawStructuredFieldValues
import ServiceRuntime

/// Reads the header `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header-07).
enum IdempotencyKeyHeader {
    /// In bytes, without the quotes.
    static let length = 1...255

    /// The key of a request; `nil` without the header.
    ///
    /// The draft writes a key as a string of structured fields, `"key"`. Most clients send it without quotes. Both
    /// forms are the same key.
    ///
    /// - Throws: 400 if the key is repeated, empty, too long, or not visible ASCII.
    static func value(in fields: HTTPFields) throws(Problem) -> String? {
        let values = fields[values: .idempotencyKey]
        guard let value = values.first else { return nil }
        guard values.count == 1 else {
            throw .badRequest("The Idempotency-Key header is repeated; send it once.")
        }
        let key = quotedString(value) ?? value
        guard length.contains(key.utf8.count), key.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .badRequest("The Idempotency-Key header must be 1 to 255 visible ASCII characters.")
        }
        return key
    }

    /// The content of a structured field that is a string without parameters (RFC 9651, section 3.3.3); `nil` for any
    /// other value.
    private static func quotedString(_ value: String) -> String? {
        // The parser would skip blanks around the string, which a key must not have. Most keys have no quotes.
        guard value.hasPrefix("\""), value.hasSuffix("\"") else { return nil }
        var parser = StructuredFieldValueParser(Array(value.utf8))
        guard let item = try? parser.parseItemFieldValue(), item.rfc9651Parameters.isEmpty,
            case .string(let content) = item.rfc9651BareItem
        else { return nil }
        return content
    }
}

extension HTTPField.Name {
    /// Lets the client repeat a request without sending twice.
    static let idempotencyKey = HTTPField.Name(static: "Idempotency-Key")
    /// `true` in the response to a repeat.
    static let idempotencyReplay = HTTPField.Name(static: "Idempotency-Replay")
}
