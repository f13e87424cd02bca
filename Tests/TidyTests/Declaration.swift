import Foundation

/// A line that declares something, as far as a rule needs to understand it.
struct Declaration {
    /// From 1.
    let line: Int
    let text: String
    let isDocumented: Bool
    /// Inside `extension Type: Protocol`, whose members answer to documented requirements.
    let isInConformance: Bool
    private let words: [Substring]
    private let keyword: Int

    /// `nil` if the line declares nothing.
    init?(_ file: SourceFile, index: Int, isInConformance: Bool) {
        let line = file.lines[index]
        // Attributes and modifiers come before the keyword; `@_` and `(set)` hide nothing that a rule asks for.
        words = line.split(whereSeparator: { $0 == " " })
        guard
            let keyword = words.firstIndex(where: { Self.keywords.contains(String($0.prefix { $0.isLetter })) }),
            words[..<keyword].allSatisfy({ $0.hasPrefix("@") || Self.modifiers.contains(String($0)) })
        else { return nil }
        self.keyword = keyword
        self.line = index + 1
        self.isInConformance = isInConformance
        text = line.trimmingCharacters(in: .whitespaces)
        var above = index - 1
        while above >= 0, Self.isAttribute(file.lines[above]) { above -= 1 }
        isDocumented = above >= 0 && file.lines[above].drop { $0 == " " }.hasPrefix("///")
        isTopLevel = !line.hasPrefix(" ")
    }

    private let isTopLevel: Bool

    /// Whether the line holds an attribute of the declaration below it, and no declaration of its own.
    private static func isAttribute(_ line: String) -> Bool {
        let words = line.split(separator: " ")
        return words.first?.hasPrefix("@") == true
            && !words.contains { keywords.contains(String($0.prefix { $0.isLetter })) }
    }

    var isPublic: Bool { words[..<keyword].contains("public") && kind != "extension" && kind != "import" }
    var isPrivate: Bool { words[..<keyword].contains { $0 == "private" || $0 == "fileprivate" } }
    var isTopLevelType: Bool { isTopLevel && Self.typeKeywords.contains(kind) }
    var isInitialiser: Bool { kind == "init" }

    /// `struct`, `func`, `init`.
    private var kind: String { String(words[keyword].prefix { $0.isLetter }) }

    /// The declared name, without generic parameters and arguments.
    var name: String {
        guard keyword + 1 < words.count else { return "" }
        return String(words[keyword + 1].prefix { $0.isLetter || $0.isNumber || $0 == "_" })
    }

    /// Members that the standard library documents.
    var isWellKnownWitness: Bool {
        let member = words[keyword...].joined(separator: " ")
        return [
            "var description:", "var debugDescription:", "func hash(into", "static func ==", "func == ", "func < ",
            "func encode(to", "init(from decoder", "func run() async", "var errorDescription:", "func next(",
            "func makeAsyncIterator(", "func makeIterator(",
        ].contains { member.hasPrefix($0) }
    }

    private static let typeKeywords: Set<String> = ["struct", "class", "enum", "actor", "protocol"]
    private static let keywords = typeKeywords.union([
        "func", "var", "let", "init", "subscript", "typealias", "extension", "import", "associatedtype",
    ])
    private static let modifiers: Set<String> = [
        "public", "package", "internal", "fileprivate", "private", "private(set)", "final", "static", "indirect",
        "lazy", "weak", "unowned", "mutating", "nonmutating", "nonisolated", "override", "convenience", "required",
        "prefix",
        "consuming", "borrowing", "isolated", "distributed", "public(set)", "internal(set)", "fileprivate(set)",
    ]
}

extension SourceFile {
    /// The declarations of the file, nested ones included, in their order.
    var declarations: [Declaration] {
        var isInConformance = false
        return lines.indices.compactMap { index in
            let line = lines[index]
            if !line.hasPrefix(" "), line.contains("extension ") { isInConformance = line.contains(":") }
            if line == "}" { isInConformance = false }
            return Declaration(self, index: index, isInConformance: isInConformance)
        }
    }

    /// The lines of a declaration, by their indices, up to the line that closes it at its own indentation.
    func body(of declaration: Declaration) -> Range<Int> {
        let start = declaration.line - 1
        let indentation = lines[start].prefix { $0 == " " }
        if lines[start].hasSuffix("}") { return start..<start + 1 }
        let end = lines[start...].firstIndex { $0.hasPrefix("\(indentation)}") } ?? lines.endIndex - 1
        return start..<end + 1
    }
}
