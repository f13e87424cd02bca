/// Where a value stands in a JSON text (RFC 8259), and of what kind it is.
public struct JSONSpan: Sendable, Hashable {
    public enum Kind: String, Sendable {
        case object, array, string, number, boolean, null

        /// With its article, as error messages name it.
        public var phrase: String {
            switch self {
            case .object: "an object"
            case .array: "an array"
            case .string: "a string"
            case .number: "a number"
            case .boolean: "a boolean"
            case .null: "null"
            }
        }
    }

    public let kind: Kind
    /// The bytes of the value in its text, quotes and brackets included, without the white space around it.
    public let range: Range<Int>
    /// For a string: the bytes of its UTF-8 form with escapes resolved; else the length of the range.
    public let contentLength: Int
    /// For a string: whether it holds an escape.
    let hasEscapes: Bool
}

/// Why a text is not JSON.
public struct JSONSyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
    public let message: String
    /// The offset of the offending byte.
    public let offset: Int

    public var description: String { "\(message) at byte \(offset)" }
}
