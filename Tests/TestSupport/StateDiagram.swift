import Foundation

/// The edges of a Mermaid state diagram in a page of the documentation.
package struct StateDiagram: Sendable {
    /// Each as `from --> to`, without the edges of `[*]`. An edge of a composite state is one of each of its members.
    package let edges: Set<String>

    /// Reads the first diagram below a heading, which is the whole line.
    package init(page: String, heading: String) throws {
        let text = try String(contentsOf: TestEnvironment.packageRoot.appending(path: page), encoding: .utf8)
        let section = text.components(separatedBy: "\n\(heading)\n").dropFirst().first ?? ""
        let diagram = section.components(separatedBy: "\n```mermaid\n").dropFirst().first ?? ""
        var members: [String: [String]] = [:]
        var pairs: [(from: String, to: String)] = []
        var group: String?
        for line in diagram.components(separatedBy: "\n```")[0].split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            if words.first == "state", words.last == "{" { group = words.count == 3 ? words[1] : nil }
            if words == ["}"] { group = nil }
            guard words.count > 2, words[1] == "-->" else { continue }
            let ends = [words[0], words[2]].filter { $0 != "[*]" }
            if let group { members[group, default: []] += ends }
            if ends.count == 2 { pairs.append((ends[0], ends[1])) }
        }
        edges = Set(
            pairs.flatMap { pair in
                (members[pair.from] ?? [pair.from]).flatMap { from in
                    (members[pair.to] ?? [pair.to]).map { "\(from) --> \($0)" }
                }
            })
    }
}
