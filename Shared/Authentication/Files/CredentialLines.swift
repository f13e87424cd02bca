/// A text file of credentials: `NAME VALUE` a line; blank lines and lines that begin with `#` are comments.
///
/// Comments and the order of lines outlive an edit.
struct CredentialLines {
    struct Entry: Equatable {
        /// The line's number, from 1.
        let line: Int
        let name: String
        let value: String
    }

    private var lines: [(text: String, entry: Entry?)] = []

    init() {}

    /// - Throws: ``AuthenticationSetupError`` `malformed`, naming the line, when a line is not two words.
    init(_ text: String) throws {
        for bytes in text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            let line = String(Substring(bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes))
            lines.append((line, try Self.entry(line, number: lines.count + 1)))
        }
        if lines.last?.text.isEmpty == true { lines.removeLast() }
    }

    var entries: [Entry] { lines.compactMap(\.entry) }

    /// The file's text.
    var text: String { lines.map { $0.text + "\n" }.joined() }

    mutating func append(name: String, value: String) {
        lines.append(("\(name) \(value)", Entry(line: lines.count + 1, name: name, value: value)))
    }

    mutating func remove(where isRemoved: (Entry) -> Bool) {
        lines.removeAll { line in line.entry.map(isRemoved) ?? false }
    }

    private static func entry(_ line: String, number: Int) throws -> Entry? {
        let words = line.utf8.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        guard let first = words.first, first.first != UInt8(ascii: "#") else { return nil }
        guard words.count == 2 else {
            throw AuthenticationSetupError(.malformed, "not a name and a value separated by a blank", line: number)
        }
        return Entry(line: number, name: String(Substring(first)), value: String(Substring(words[1])))
    }
}
