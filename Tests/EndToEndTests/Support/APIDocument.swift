import Foundation
import TestSupport

/// The commands of docs/reference/http-api.md, and the answers that it shows.
struct APIDocument {
    /// A block of commands and the answer below it.
    struct Step {
        var section: String
        var heading: String
        var commands: String
        var shown: APIAnswer
    }

    private(set) var steps: [Step] = []
    /// Headings below their sections.
    private var headings: [(section: String, text: String)] = []

    static func read() throws -> APIDocument {
        let file = TestEnvironment.packageRoot.appending(path: "docs/reference/http-api.md")
        return APIDocument(try String(contentsOf: file, encoding: .utf8))
    }

    private init(_ text: String) {
        var (section, heading, fence, block, commands) = ("", "", "", [String](), "")
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            if line.hasPrefix("```") {
                if fence == "```sh" { commands = block.joined(separator: "\n") }
                if fence == "```http" {
                    let shown = APIAnswer(block.joined(separator: "\n"))
                    steps.append(Step(section: section, heading: heading, commands: commands, shown: shown))
                }
                (fence, block) = (fence.isEmpty ? line : "", [])
            } else if !fence.isEmpty {
                block.append(line)
            } else if line.hasPrefix("## ") {
                section = String(line.dropFirst(3).prefix { $0.isLetter })
            } else if line.hasPrefix("### ") {
                heading = String(line.dropFirst(4))
                headings.append((section, heading))
            }
        }
    }

    /// `METHOD path` of the headings of some sections.
    func operations(in sections: [String]) -> Set<String> {
        Set(
            headings.filter { sections.contains($0.section) }.compactMap { _, text in
                let code = text.split(separator: "`").dropFirst().first.map(String.init)
                return code.flatMap { $0.contains(" /") ? $0 : nil }
            })
    }
}
