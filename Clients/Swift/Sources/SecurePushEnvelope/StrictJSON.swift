public import Foundation

/// JSON that means the same to every reader: RFC 8259 in UTF-8, without a byte order mark, without repeated names at any
/// level, without lone surrogates, and at most ``maxDepth`` levels deep.
///
/// The text is checked as a whole at the beginning. Values are found in it in place, without a tree, so a large text is
/// in memory once, and numbers keep their digits.
public struct StrictJSON: Sendable {
    /// The text is not such JSON. The error says nothing of the text.
    public struct Malformed: Error, Sendable {}

    /// The name of a member in UTF-8, without escapes. Equal strings of Swift can have different bytes.
    package struct Name: Sendable, Hashable, ExpressibleByStringLiteral {
        let utf8: [UInt8]

        init(utf8: [UInt8]) { self.utf8 = utf8 }
        package init(stringLiteral name: String) { utf8 = Array(name.utf8) }
    }

    /// How deep arrays and objects may nest; the outermost one is the first level.
    public static let maxDepth = 32

    private let document: Data
    private let span: Range<Int>

    /// Checks a text.
    ///
    /// - Parameter text: bytes, such as `Data` or the `utf8` of a string.
    /// - Throws: ``Malformed``.
    public init(_ text: some Sequence<UInt8>) throws(Malformed) {
        try self.init(Data(text), maxDepth: Self.maxDepth, namesRepeat: false)
    }

    /// Checks a text with other limits, and does not copy it.
    ///
    /// - Parameters:
    ///   - maxDepth: bounds the stack.
    ///   - namesRepeat: whether names may be repeated in objects that ``object()`` does not read. The check of every object
    ///     keeps its names in memory.
    /// - Throws: ``Malformed``.
    package init(_ document: Data, maxDepth: Int, namesRepeat: Bool) throws(Malformed) {
        self.document = document
        span = try Self.read(document) { bytes in
            let scanner = JSONScanner(bytes: bytes, maxDepth: maxDepth, checksNames: !namesRepeat)
            let start = scanner.skipBlanks(0)
            let end = try scanner.skipValue(start, depth: 0)
            guard scanner.skipBlanks(end) == bytes.count else { throw Malformed() }
            return start..<end
        }
    }

    private init(_ document: Data, _ span: Range<Int>) { (self.document, self.span) = (document, span) }

    /// The text of the value, as it was written.
    public var json: Data { Data(document.dropFirst(span.lowerBound).prefix(span.count)) }

    /// Whether it is `null`.
    public var isNull: Bool { first == UInt8(ascii: "n") }

    /// Its value, if it is `true` or `false`.
    public var boolean: Bool? {
        switch first {
        case UInt8(ascii: "t"): true
        case UInt8(ascii: "f"): false
        default: nil
        }
    }

    /// A number as it was written.
    public var number: String? {
        guard first == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else { return nil }
        return String(decoding: json, as: UTF8.self)
    }

    /// The value of a string.
    public var text: String? {
        guard first == UInt8(ascii: "\"") else { return nil }
        return try? Self.read(document) { bytes in
            let inner = bytes[span].dropFirst().dropLast()
            guard inner.contains(UInt8(ascii: "\\")) else { return String(decoding: inner, as: UTF8.self) }
            return String(decoding: try JSONScanner(bytes: bytes).unescape(span), as: UTF8.self)
        }
    }

    /// The elements of an array.
    public var elements: [StrictJSON]? { try? elements(atMost: .max) }

    /// The elements of an array.
    ///
    /// - Throws: ``Malformed`` for another value, and for an array that is longer.
    package func elements(atMost limit: Int) throws(Malformed) -> [StrictJSON] {
        var elements: [StrictJSON] = []
        try walk("[") { _, element in
            guard elements.count < limit else { throw Malformed() }
            elements.append(element)
        }
        return elements
    }

    /// The members of an object, in the order of the text.
    public var members: [(name: String, value: StrictJSON)]? {
        var members: [(name: String, value: StrictJSON)] = []
        do {
            try walk("{") { members.append((String(decoding: $0.utf8, as: UTF8.self), $1)) }
            return members
        } catch {
            return nil
        }
    }

    /// The members of an object.
    ///
    /// - Throws: ``Malformed`` for another value, and for repeated names.
    package func object() throws(Malformed) -> [Name: StrictJSON] {
        var object: [Name: StrictJSON] = [:]
        try walk("{") { name, value in
            guard object.updateValue(value, forKey: name) == nil else { throw Malformed() }
        }
        return object
    }

    /// A member of an object, whose name is compared byte for byte after unescaping.
    public subscript(name: String) -> StrictJSON? {
        let name = Name(stringLiteral: name)
        var found: StrictJSON?
        try? walk("{") { candidate, value in if candidate == name { found = value } }
        return found
    }

    private var first: UInt8 { document[document.startIndex + span.lowerBound] }

    /// Calls the closure with each member of an object, or, with an empty name, each element of an array.
    private func walk(_ opening: Unicode.Scalar, _ visit: (Name, StrictJSON) throws -> Void) throws(Malformed) {
        guard first == UInt8(ascii: opening) else { throw Malformed() }
        try Self.read(document) { bytes in
            let scanner = JSONScanner(bytes: bytes)
            _ = try scanner.skipContainer(span.lowerBound, depth: 0) { name, value in
                try visit(Name(utf8: try scanner.unescape(name)), StrictJSON(document, value))
            }
        }
    }

    private static func read<Result>(
        _ document: Data, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws(Malformed) -> Result {
        do {
            return try document.withUnsafeBytes(body)
        } catch {
            throw Malformed()
        }
    }
}
