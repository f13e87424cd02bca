internal import Domain
internal import Foundations
internal import Logging

/// A text file of credentials with one `NAME VALUE` per line. Blank lines and lines that begin with `#` are comments.
/// An edit keeps comments and the order of lines.
struct CredentialLines {
    struct Entry: Equatable {
        /// The line's number, from 1.
        let line: Int
        let name: String
        let value: String
    }

    private var lines: [(text: String, entry: Entry?)] = []

    init() {}

    /// - Throws: ``SetupError`` `malformed` with the number of the line, if a line does not have two
    ///   words.
    init(_ text: String) throws {
        for line in OutsideText.lines(text) {
            // Joined files have a byte order mark inside too. It would be a part of a name that nobody can type.
            let line = OutsideText.withoutMark(line)
            lines.append((line, try Self.entry(line, number: lines.count + 1)))
        }
    }

    var entries: [Entry] { lines.compactMap(\.entry) }

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
            throw SetupError(
                .malformed, "the line is not a name and a value separated by a blank", line: number)
        }
        return Entry(line: number, name: String(Substring(first)), value: String(Substring(words[1])))
    }
}

extension ReloadingFile {
    /// A file of credentials. A changed version that cannot be used is logged and read again every second, and denies
    /// access after one minute. A deleted file denies access at once.
    convenience init(
        credentials path: String, logger: Logger, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        parse: @escaping @Sendable (String) throws -> Value
    ) throws(FileError) {
        let report: @Sendable (FileError) -> Void = { error in
            let consequence =
                error.code == .missing
                ? "A file of credentials was deleted; access by it is denied"
                : "A changed file of credentials cannot be used; access by it is denied after one minute"
            logger.error(
                "\(consequence)", metadata: ["path": "\(error.path)", "error": "\(error.message)"])
        }
        try self.init(path: path, whileUnusable: .denies, now: now, report: report, parse: parse)
    }
}

extension AuthenticationError {
    /// 503 and not 401: the credentials may be valid, and a device must not delete them.
    static var credentialsUnusable: AuthenticationError {
        AuthenticationError(.unavailable, "Credentials cannot be checked at the moment.")
    }
}
