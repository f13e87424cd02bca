/// The ID of a notification, as it is in a push and in the path of a fetch.
///
/// It is opaque. The grammar only makes it harmless in a path, in a log and in a file: 1 to 64 of `A-Z a-z 0-9 - _`.
public struct PushID: Hashable, Sendable {
    /// The text.
    public let rawValue: String

    /// Takes an ID; `nil` for a text that breaks the grammar.
    public init?(_ text: String) {
        let bytes = text.utf8
        guard (1...Self.maxLength).contains(bytes.count), bytes.allSatisfy(Self.isAllowed) else { return nil }
        rawValue = text
    }

    /// The longest ID, in characters.
    public static let maxLength = 64

    static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

extension PushID: CustomStringConvertible {
    /// The ID.
    public var description: String { rawValue }
}

extension PushID: Codable {
    /// Reads a JSON string that keeps to the grammar.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let id = PushID(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "This is no ID.")
        }
        self = id
    }

    /// Writes the ID as a JSON string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}
