/// Reads single elements of the hub's documents, which have a fixed form; ``RegistrationFeed`` explains why this is no
/// XML parser.
extension StringProtocol {
    /// The contents of all elements with a name, which are not nested and may have attributes.
    func elements(_ name: String) -> [SubSequence] {
        var contents: [SubSequence] = []
        var rest = self[startIndex...]
        while let start = rest.firstRange(of: "<" + name) {
            rest = rest[start.upperBound...]
            // Not an element whose name only begins like this.
            guard let next = rest.first, next == ">" || next.isWhitespace else { continue }
            guard let tagEnd = rest.firstIndex(of: ">"), let end = rest.firstRange(of: "</\(name)>") else { break }
            contents.append(rest[rest.index(after: tagEnd)..<Swift.max(end.lowerBound, rest.index(after: tagEnd))])
            rest = rest[end.upperBound...]
        }
        return contents
    }

    /// The text of the first element with a name; `nil` if there is none.
    func text(ofElement name: String) -> String? {
        elements(name).first.flatMap { XMLText.decode(String($0)) }
    }
}
