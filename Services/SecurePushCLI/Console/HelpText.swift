/// Wraps the help of a command.
///
/// swift-argument-parser 1.8.2 keeps the line ends that a discussion has in the source, and breaks lines that are still
/// too long a second time. So the help is made with lines of any length, and its paragraphs are filled here.
struct HelpText {
    /// The width at which the argument parser breaks nothing.
    static let unwrapped = 100_000
    /// Where the argument parser puts the text beside an option.
    private static let optionColumn = 26

    private enum Part {
        case prose, usage, options
    }

    /// A paragraph whose lines are not filled yet.
    private struct Paragraph {
        var lines: [String] = []
        /// The indentation of all lines but the first.
        var hang = 0
    }

    private let width: Int
    private var output: [String] = []
    private var part = Part.prose
    private var paragraph = Paragraph()

    private init(width: Int) { self.width = width }

    /// - Parameters:
    ///   - text: the help of the argument parser, made with ``unwrapped``.
    ///   - width: the longest line. A single word can be longer.
    static func wrap(_ text: String, to width: Int) -> String {
        var help = HelpText(width: width)
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) { help.take(String(line)) }
        help.flush()
        return help.output.joined(separator: "\n")
    }

    private mutating func take(_ line: String) {
        if line.hasPrefix("USAGE: ") { part = .usage }
        if part == .usage, line.hasSuffix(":"), !line.hasPrefix("USAGE: "), !line.hasPrefix(" ") { part = .options }
        if part == .usage { return takeUsage(line) }
        if part == .options { return takeOption(line) }
        takeProse(line)
    }

    private mutating func takeProse(_ line: String) {
        let indent = line.prefix { $0 == " " }.count
        if line.isEmpty || line == "EXAMPLES" {
            flush()
            output.append(line)
        } else if indent > 0, paragraph.hang > 0, indent >= paragraph.hang {
            paragraph.lines.append(line)
        } else if indent > 0 {
            flush()
            output += ShellLine.wrap(line, to: width)
        } else if let hang = HelpText.hang(of: line) {
            flush()
            paragraph = Paragraph(lines: [line], hang: hang)
        } else {
            if paragraph.hang > 0 { flush() }
            paragraph.lines.append(line)
        }
    }

    /// The column of the text if the line begins an entry of a list: `- text`, or `term  text`.
    private static func hang(of line: String) -> Int? {
        if line.hasPrefix("- ") { return 2 }
        guard let gap = line.firstRange(of: "  ") else { return nil }
        let text = line[gap.lowerBound...].drop { $0 == " " }
        guard !line[..<gap.lowerBound].contains(" "), !text.isEmpty else { return nil }
        return line.count - text.count
    }

    private mutating func takeUsage(_ line: String) {
        flush()
        let isContinuation = line.hasPrefix(" ")
        let first = isContinuation ? "       " : ""
        output += TextFill.fill(TextFill.usageWords(line), first: first, hang: 7, to: width)
    }

    private mutating func takeOption(_ line: String) {
        flush()
        guard line.count > width else { return output.append(line) }
        let isOption = line.count > HelpText.optionColumn && !line.hasPrefix("  See '")
        let hang = isOption ? HelpText.optionColumn : 2
        output += TextFill.fill(TextFill.words(line.dropFirst(hang)), first: line.prefix(hang), hang: hang, to: width)
    }

    /// Fills the open paragraph.
    private mutating func flush() {
        defer { paragraph = Paragraph() }
        guard let first = paragraph.lines.first else { return }
        let head = first.prefix(paragraph.hang)
        let rest = paragraph.lines.dropFirst().flatMap { line in TextFill.words(line) }
        let words = TextFill.words(first.dropFirst(paragraph.hang)) + rest
        output += TextFill.fill(words, first: head, hang: paragraph.hang, to: width)
    }
}

/// Fills lines with words.
enum TextFill {
    static func words(_ text: some StringProtocol) -> [String] {
        text.split { $0 == " " }.map { String($0) }
    }

    /// The parts of a usage line that stay on one line: `[--limit <n>]`, `--to <name> ...`.
    static func usageWords(_ text: String) -> [String] {
        var parts: [String] = []
        var depth = 0
        for word in words(text) {
            let isRest = depth > 0 || word.hasPrefix("<") || word == "..."
            if isRest, let last = parts.indices.last, depth > 0 || parts[last].hasPrefix("-") || word == "..." {
                parts[last] += " " + word
            } else {
                parts.append(word)
            }
            depth += word.count { $0 == "[" } - word.count { $0 == "]" }
        }
        return parts
    }

    /// - Parameters:
    ///   - first: the beginning of the first line.
    ///   - hang: the indentation of the other lines.
    /// - Returns: lines of at most `width` characters, unless a word is longer.
    static func fill(_ words: [String], first: some StringProtocol, hang: Int, to width: Int) -> [String] {
        var lines: [String] = []
        var line = String(first)
        var isEmpty = true
        for word in words {
            if !isEmpty, line.count + 1 + word.count > width {
                lines.append(line)
                line = String(repeating: " ", count: hang)
                isEmpty = true
            }
            line += isEmpty ? word : " " + word
            isEmpty = false
        }
        return lines + [line]
    }
}

/// A command line of an example, continued with a backslash where it is too long.
enum ShellLine {
    static func wrap(_ line: String, to width: Int) -> [String] {
        guard line.count > width else { return [line] }
        let indent = line.prefix { $0 == " " }
        let continued = indent + "    "
        var lines: [String] = []
        var current = String(indent)
        var isEmpty = true
        for part in parts(line, atMost: width - continued.count - 2) {
            // Two columns stay free for the backslash.
            if !isEmpty, current.count + 1 + part.count > width - 2 {
                lines.append(current + " \\")
                current = String(continued)
                isEmpty = true
            }
            current += isEmpty ? part : " " + part
            isEmpty = false
        }
        return lines + [current]
    }

    /// The words of a command line; an option with its value is one part if it is not too long.
    private static func parts(_ line: String, atMost count: Int) -> [String] {
        var parts: [String] = []
        for word in words(line) {
            let isValue = parts.last.map { $0.hasPrefix("-") && !$0.contains(" ") } ?? false
            if isValue, !word.hasPrefix("-"), let last = parts.indices.last, parts[last].count + word.count < count {
                parts[last] += " " + word
            } else {
                parts.append(word)
            }
        }
        return parts
    }

    /// Splits at spaces that are not quoted.
    private static func words(_ line: String) -> [String] {
        var words = [""]
        var quote: Character?
        for character in line {
            if character == quote { quote = nil } else if quote == nil, "'\"".contains(character) { quote = character }
            if character == " ", quote == nil { words.append("") } else { words[words.count - 1].append(character) }
        }
        return words.filter { !$0.isEmpty }
    }
}
