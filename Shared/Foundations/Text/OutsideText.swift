/// Text from outside: settings, files, standard input. It is cut by bytes and Unicode scalars.
///
/// Swift's `Character` joins scalars: CR LF is one character, and so is a letter with the accents after it. Its strings
/// are equal if Unicode calls them equivalent. Other programs split such text by bytes, so `Character` would miss lines
/// and blanks that they see.
package enum OutsideText {
    /// U+FEFF in UTF-8. Some editors write it at the beginning of a file.
    package static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// A text without the byte order mark at its beginning.
    package static func withoutMark(_ text: String) -> String {
        text.utf8.starts(with: byteOrderMark) ? String(Substring(text.utf8.dropFirst(byteOrderMark.count))) : text
    }

    /// A text without the blanks, line ends and invisible characters at both ends.
    ///
    /// Blanks are Unicode's white space, such as U+00A0. Invisible are those that people paste without seeing them: the
    /// byte order mark, zero-width spaces and marks of direction.
    package static func trimmed(_ text: some StringProtocol) -> String {
        var rest = Substring(text).unicodeScalars
        while let first = rest.first, isBlank(first) { rest.removeFirst() }
        while let last = rest.last, isBlank(last) { rest.removeLast() }
        return String(rest)
    }

    /// A text without the blanks, line ends and invisible characters at its end.
    package static func trimmedEnd(_ text: some StringProtocol) -> String {
        var rest = Substring(text).unicodeScalars
        while let last = rest.last, isBlank(last) { rest.removeLast() }
        return String(rest)
    }

    /// The lines of a text without their ends: LF or CR LF. After the last line end there is no further line.
    package static func lines(_ text: some StringProtocol) -> [String] {
        let feed = UInt8(ascii: "\n")
        var lines = Substring(text).utf8.split(separator: feed, omittingEmptySubsequences: false)
        if lines.last?.isEmpty == true { lines.removeLast() }
        return lines.map { line in
            String(Substring(line.last == UInt8(ascii: "\r") ? line.dropLast() : line))
        }
    }

    /// The parts of a text between occurrences of an ASCII character, empty parts too.
    package static func parts(
        _ text: some StringProtocol, at separator: Unicode.Scalar, maxSplits: Int = .max
    ) -> [Substring] {
        Substring(text).utf8
            .split(separator: UInt8(ascii: separator), maxSplits: maxSplits, omittingEmptySubsequences: false)
            .map { Substring($0) }
    }

    /// The first character that no setting and no credential holds: a control character (Unicode category Cc), a line
    /// or paragraph separator, a zero-width space or a control of the writing direction. `nil` if there is none.
    package static func controlCharacter(in text: some StringProtocol) -> Unicode.Scalar? {
        Substring(text).unicodeScalars.first { scalar in
            switch scalar.value {
            case 0..<0x20, 0x7F...0x9F, 0x200B, 0x2028...0x202E, 0x2060, 0x2066...0x2069, 0xFEFF: true
            default: false
            }
        }
    }

    /// The number of ends of a text at which there is a quotation mark, one of keyboards or of word processors.
    package static func marks(around text: some StringProtocol) -> Int {
        let scalars = Substring(text).unicodeScalars
        let ends = [scalars.first, scalars.count > 1 ? scalars.last : nil].compactMap(\.self)
        return ends.count { quotationMarks.contains($0) }
    }

    private static let quotationMarks = Set("\"'`“”„‘’‚«»".unicodeScalars)

    /// How messages name a character: `U+000D`.
    package static func name(of scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return "U+" + String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
    }

    /// A word of a command line as messages repeat it: the name of an option, without its value, or a word that looks
    /// like the name of a command. `nil` for anything else: it can be a password in the wrong place.
    package static func commandWord(_ argument: String) -> String? {
        let word = argument.utf8.prefix { $0 != UInt8(ascii: "=") }
        if word.first == UInt8(ascii: "-") { return optionBytes.containsAll(word) ? String(Substring(word)) : nil }
        return argument.utf8.count <= 24 && commandBytes.containsAll(argument) ? argument : nil
    }

    private static let commandBytes = ByteSet("abcdefghijklmnopqrstuvwxyz-")
    private static let optionBytes = ByteSet.alphanumerics.union(ByteSet("-_"))

    /// Whether two texts have the same bytes. `==` also calls different bytes equal if Unicode shows them alike.
    package static func areSame(_ one: some StringProtocol, _ other: some StringProtocol) -> Bool {
        one.utf8.elementsEqual(other.utf8)
    }

    /// A text for people: characters that they would not see, or that change the direction of later text, become
    /// escapes such as `\u{202E}`. Line feeds and tabs stay.
    package static func visible(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isInvisible) else { return text }
        var visible = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if isInvisible(scalar) {
                visible += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}".unicodeScalars
            } else {
                visible.append(scalar)
            }
        }
        return String(visible)
    }

    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        if (0x20...0x7E).contains(scalar.value) || scalar == "\n" || scalar == "\t" { return false }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return true
        default: break
        }
        // Variation selectors choose the form of an emoji.
        let isSelector = (0xFE00...0xFE0F).contains(scalar.value) || (0xE0100...0xE01EF).contains(scalar.value)
        return scalar.properties.isDefaultIgnorableCodePoint && !isSelector
    }

    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0xAD, 0x180E, 0x200B...0x200F, 0x202A...0x202E, 0x2060...0x206F, 0xFEFF: true
        default: scalar.properties.isWhitespace
        }
    }
}
