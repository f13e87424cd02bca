internal import SecurePushCore

/// Reads JSON strictly, as ``JSONScanner`` does, and takes no repeated names and at most 16 levels.
///
/// Foundation's decoder takes repeated names and keeps one of them; a token must have one meaning for everyone
/// (RFC 7519, section 4; RFC 8725, section 2.4).
enum JSONReader {
    struct Malformed: Error {}

    private static let maximumDepth = 16
    private static let maximumMembers = 256

    /// The object that the bytes are the JSON of.
    static func object(_ bytes: [UInt8]) throws(Malformed) -> JSONObject {
        let root = bytes.withUnsafeBufferPointer { bytes in
            var scanner = JSONScanner(bytes)
            return (try? scanner.document()).flatMap { value(of: $0, in: bytes, depth: 0) }
        }
        guard case .object(let object) = root else { throw Malformed() }
        return object
    }

    /// Nil for a value that is not taken here.
    private static func value(
        of span: JSONSpan, in bytes: UnsafeBufferPointer<UInt8>, depth: Int
    ) -> JSONValue? {
        switch span.kind {
        case .null: .null
        case .boolean: .bool(bytes[span.range.lowerBound] == UInt8(ascii: "t"))
        case .number: number(of: span, in: bytes).map(JSONValue.number)
        case .string: .string(JSONScanner(bytes).text(of: span))
        case .array: array(of: span, in: bytes, depth: depth).map(JSONValue.array)
        case .object: object(of: span, in: bytes, depth: depth).map(JSONValue.object)
        }
    }

    private static func number(of span: JSONSpan, in bytes: UnsafeBufferPointer<UInt8>) -> Double? {
        let digits = UnsafeBufferPointer(rebasing: bytes[span.range])
        guard let number = Double(String(decoding: digits, as: UTF8.self)), number.isFinite else { return nil }
        return number
    }

    private static func array(
        of span: JSONSpan, in bytes: UnsafeBufferPointer<UInt8>, depth: Int
    ) -> [JSONValue]? {
        guard depth < maximumDepth else { return nil }
        var scanner = JSONScanner(bytes, range: span.range)
        var elements: [JSONValue?] = []
        // The whole text has been checked: it cannot fail again.
        try? scanner.elements { elements.append(value(of: $0, in: bytes, depth: depth + 1)) }
        let taken = elements.compactMap { $0 }
        return taken.count == elements.count ? taken : nil
    }

    private static func object(
        of span: JSONSpan, in bytes: UnsafeBufferPointer<UInt8>, depth: Int
    ) -> JSONObject? {
        guard depth < maximumDepth else { return nil }
        var scanner = JSONScanner(bytes, range: span.range)
        var object = JSONObject()
        var isTaken = true
        // The whole text has been checked: it cannot fail again.
        try? scanner.members { (name, member) throws(JSONSyntaxError) in
            guard isTaken, object.members.count < maximumMembers,
                let taken = value(of: member, in: bytes, depth: depth + 1)
            else { return isTaken = false }
            isTaken = object.insert(JSONScanner(bytes).text(of: name), taken)
        }
        return isTaken ? object : nil
    }
}
