import Foundation
import TestSupport
import Testing

/// The map of the code (docs/architecture.md) and the decisions, compared with the code.
@Suite struct MapTests {
    /// The pages that name functions of the code.
    static let pages = DocumentationPage.all.filter { page in
        ["CONTRIBUTING.md", "docs/architecture.md", "docs/contributing/follow-one-notification.md"].contains(page.path)
            || page.path.hasPrefix("docs/decisions/")
    }

    static let decisions = pages.filter { $0.path.contains(/decisions\/\d{4}-/) }

    @Test func `The map is read in ten minutes`() throws {
        let map = try #require(Self.pages.first { $0.path == "docs/architecture.md" })
        #expect(map.text.split(separator: "\n", omittingEmptySubsequences: false).count <= 151)
    }

    @Test(arguments: pages)
    func `Every function that a page names exists`(_ page: DocumentationPage) {
        for match in page.text.matches(of: /`([A-Z]\w+)\.([a-z]\w+)`/) where match.2 != "swift" {
            let (type, member) = (String(match.1), String(match.2))
            let exists = NamesOfFile.all.contains { $0.types.contains(type) && $0.members.contains(member) }
            #expect(exists, "\(page.path) names \(type).\(member)")
        }
    }

    /// Arrows to the modules at the bottom are not drawn from everywhere, and those of the program only in part.
    @Test func `The picture of the modules is the import table`() throws {
        let map = try #require(Self.pages.first { $0.path == "docs/architecture.md" })
        let picture = try #require(
            map.text.components(separatedBy: "```").first { $0.contains("SecurePushCLI -->") })
        var drawn: [String: Set<String>] = [:]
        for line in picture.split(separator: "\n") {
            let steps = line.components(separatedBy: "-->").map { step in
                step.split(separator: "&").map { $0.trimmingCharacters(in: .whitespaces) }
            }
            for (from, to) in zip(steps, steps.dropFirst()) {
                for name in from { drawn[name, default: []].formUnion(to) }
            }
        }
        let bottom: Set = ["ServiceConfiguration", "Domain", "Foundations"]
        let headers: Set = ["CLibPQ", "CRabbitMQ", "CGlibc", "CBuildInformation"]
        var modules: Set<String> = []
        for (path, allowed) in ImportTableTests.own where path != "Clients/Swift" {
            let name = path.components(separatedBy: "/")[1]
            modules.insert(name)
            let arrows = drawn[name, default: []]
            #expect(arrows.isSubset(of: allowed), "\(name) must not import \(arrows.subtracting(allowed))")
            guard name != "SecurePushCLI" else { continue }
            #expect(arrows.subtracting(bottom) == allowed.subtracting(bottom).subtracting(headers), "\(name)")
        }
        #expect(Set(drawn.keys).isSubset(of: modules))
    }

    @Test(arguments: decisions)
    func `A decision and its code name each other`(_ page: DocumentationPage) throws {
        let index = try #require(Self.pages.first { $0.path == "docs/decisions/README.md" })
        #expect(index.text.contains("(\(page.path.dropFirst("docs/decisions/".count)))"), "\(page.path)")
        for title in ["Context", "Decision", "Alternatives", "Consequences"] {
            #expect(page.text.contains("\n## \(title)\n"), "\(page.path) has no \(title)")
        }
        let head = page.text.components(separatedBy: "\n## ")[0]
        #expect(head.contains("\nDate: ") && head.contains("Status: "), "\(page.path)")
        let ruled = Set(head.matches(of: /`([^`\s]+\/[^`\s]+|Package\.swift)`/).map { String($0.1) })
        #expect(!ruled.isEmpty || head.contains("superseded by"), "\(page.path) names no code")
        for path in ruled {
            let text = try String(contentsOf: TestEnvironment.packageRoot.appending(path: path), encoding: .utf8)
            #expect(text.contains("Decision: \(page.path)"), "\(path) does not name \(page.path)")
        }
        for file in SourceFile.all where file.lines.contains(where: { $0.contains("Decision: \(page.path)") }) {
            #expect(ruled.contains(file.path), "\(page.path) does not name \(file.path)")
        }
    }

    @Test func `Comments name decisions that exist`() {
        let paths = Set(Self.decisions.map(\.path))
        #expect(paths.count > 30)
        for file in SourceFile.all {
            for line in file.lines {
                guard let match = line.firstMatch(of: /Decision: (docs\/decisions\/\S+)/) else { continue }
                #expect(paths.contains(String(match.1)), "\(file.path) names \(match.1)")
            }
        }
    }
}

/// The names that a source file declares or extends.
private struct NamesOfFile: Sendable {
    var types: Set<String> = []
    var members: Set<String> = []

    static let all: [NamesOfFile] = SourceFile.production.map { file in
        var names = NamesOfFile()
        for line in file.lines {
            let words = line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init)
            for (word, name) in zip(words, words.dropFirst()) {
                switch word {
                case "class", "struct", "enum", "actor", "protocol", "extension": names.types.insert(name)
                case "func", "var", "let", "case": names.members.insert(name)
                default: break
                }
            }
        }
        return names
    }
}
