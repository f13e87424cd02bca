/// The settings in the `options` of a connection, such as `-c search_path=mine`.
///
/// They are set in the session and not sent with the start of the connection: a pooler such as PgBouncer refuses the
/// parameter there.
struct SessionOptions: Sendable, Hashable {
    /// In the order of the text: a later one counts.
    let names: [String]
    let values: [String]

    /// Reads `-c NAME=VALUE`, `-cNAME=VALUE` and `--NAME=VALUE`, as the server does (`pg_split_opts`): blanks part
    /// them, and a backslash quotes the next character.
    ///
    /// - Returns: `nil` for anything else, which only the server understands.
    init?(_ text: String) {
        var words = Self.words(text)[...]
        var (names, values): ([String], [String]) = ([], [])
        while var word = words.popFirst() {
            if word == "-c" {
                guard let next = words.popFirst() else { return nil }
                word = next
            } else if word.hasPrefix("-c") || word.hasPrefix("--") {
                word.removeFirst(2)
            } else {
                return nil
            }
            guard let sign = word.firstIndex(of: "="), sign > word.startIndex else { return nil }
            names.append(String(word[..<sign]).replacing("-", with: "_"))
            values.append(String(word[word.index(after: sign)...]))
        }
        (self.names, self.values) = (names, values)
    }

    private static func words(_ text: String) -> [String] {
        var words: [String] = []
        var (word, isQuoted): (String?, Bool) = (nil, false)
        for character in text.unicodeScalars {
            if isQuoted || !(character == "\\" || character.properties.isWhitespace) {
                word = (word ?? "") + String(character)
                isQuoted = false
            } else if character == "\\" {
                isQuoted = true
            } else if let done = word {
                words.append(done)
                word = nil
            }
        }
        return words + [word].compactMap(\.self)
    }
}
