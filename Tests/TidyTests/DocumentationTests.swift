import Foundation
import TestSupport
import Testing

/// The pages of the documentation: links resolve, every page is reachable, and the tests that a page names exist.
@Suite struct DocumentationTests {
    @Test(arguments: DocumentationPage.all)
    func `Relative links resolve`(_ page: DocumentationPage) {
        for link in page.links {
            guard let target = DocumentationPage.all.first(where: { $0.path == link.path }) else {
                let file = TestEnvironment.packageRoot.appending(path: link.path)
                let exists = FileManager.default.fileExists(atPath: file.path)
                #expect(exists && link.fragment == nil, "\(page.path) links to \(link.text)")
                continue
            }
            guard let fragment = link.fragment else { continue }
            #expect(target.anchors.contains(fragment), "\(page.path) links to \(link.text)")
        }
    }

    @Test func `Every page is reachable from the index`() {
        let pages = Dictionary(uniqueKeysWithValues: DocumentationPage.all.map { ($0.path, $0) })
        var (reached, waiting): (Set<String>, [String]) = ([], ["docs/README.md"])
        while let path = waiting.popLast() {
            guard let page = pages[path], reached.insert(path).inserted else { continue }
            waiting += page.links.map(\.path)
        }
        let unreached = pages.keys.filter { $0.hasPrefix("docs/") && !reached.contains($0) }.sorted()
        #expect(pages.count > 30)
        #expect(unreached == [], "Link them from docs/README.md")
    }

    /// The command-line reference is compared with the help texts; other pages are compared with it.
    @Test(arguments: DocumentationPage.all)
    func `Shown commands are in the reference`(_ page: DocumentationPage) throws {
        let reference = try #require(DocumentationPage.all.first { $0.path == "docs/reference/cli.md" })
        let sections = reference.text.components(separatedBy: "\n### `").dropFirst()
        for line in page.code.replacingOccurrences(of: "\\\n", with: " ").split(separator: "\n") {
            guard let match = line.firstMatch(of: /(?:^| )securepush ([a-z][^|;>&#]*)/), !line.contains("apt-get ")
            else { continue }
            let words = match.1.split(separator: " ").map(String.init)
            let names = [words.prefix(2), words.prefix(1)].map { "securepush \($0.joined(separator: " "))`" }
            let section = names.lazy.compactMap { name in sections.first { $0.hasPrefix(name) } }.first
            guard let section else {
                Issue.record("\(page.path) shows an unknown command: \(line)")
                continue
            }
            for flag in words where flag.hasPrefix("--") && !["--json", "--no-color", "--ca-file"].contains(flag) {
                #expect(section.contains("`\(flag.prefix { $0 != "=" })"), "\(page.path): \(line)")
            }
        }
    }

    @Test(arguments: DocumentationPage.all)
    func `Every suite that a page names exists`(_ page: DocumentationPage) {
        for match in page.text.matches(of: /`([A-Z][A-Za-z]+Tests)[`.]/) {
            let exists = SourceFile.all.contains {
                $0.path.hasSuffix("/\(match.1).swift") || $0.path.contains("Tests/\(match.1)/")
            }
            #expect(exists, "\(page.path) names \(match.1)")
        }
    }

    @Test(arguments: DocumentationPage.all)
    func `Every source file that a page names exists`(_ page: DocumentationPage) {
        for match in page.text.matches(of: /`((?:Services|Shared|Tests|Tools|scripts)\/[^`\s]*\.[a-z]+)`/) {
            let path = String(match.1)
            guard !path.contains("*"), !path.contains("…") else { continue }
            let exists = FileManager.default.fileExists(atPath: TestEnvironment.packageRoot.appending(path: path).path)
            #expect(exists, "\(page.path) names \(path)")
        }
    }
}

/// A Markdown file of `docs`, or one of the root folder.
struct DocumentationPage: Sendable, CustomStringConvertible {
    struct Link: Sendable {
        /// As the page has it.
        var text: String
        /// From the root of the checkout.
        var path: String
        /// The anchor after `#`.
        var fragment: String?
    }

    /// From the root of the checkout.
    let path: String
    let text: String

    var description: String { path }

    /// The links to files of the checkout, without those in code blocks.
    var links: [Link] {
        prose.matches(of: /\]\(([^)\s]+)\)/).compactMap { match in
            let link = String(match.1)
            guard !link.contains("://"), !link.hasPrefix("mailto:") else { return nil }
            let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            return Link(
                text: link, path: parts[0].isEmpty ? path : resolve(parts[0]),
                fragment: parts.count > 1 ? parts[1] : nil)
        }
    }

    /// The anchors of the headings, as GitHub makes them.
    var anchors: Set<String> {
        Set(
            prose.split(separator: "\n").filter { $0.hasPrefix("#") }.map { line in
                let heading = line.drop { $0 == "#" }.drop { $0 == " " }.lowercased()
                return heading.filter { $0.isLetter || $0.isNumber || "-_ ".contains($0) }
                    .replacingOccurrences(of: " ", with: "-")
            })
    }

    /// The text without code blocks.
    private var prose: String { every(2, from: 0) }

    /// The code blocks.
    var code: String { every(2, from: 1) }

    private func every(_ step: Int, from start: Int) -> String {
        let parts = text.components(separatedBy: "```")
        return stride(from: start, to: parts.count, by: step).map { parts[$0] }.joined(separator: "\n")
    }

    /// A path relative to this page's folder, from the root of the checkout.
    private func resolve(_ relative: String) -> String {
        var folders = path.split(separator: "/").dropLast().map(String.init)
        for part in relative.split(separator: "/") {
            if part == ".." { _ = folders.popLast() } else if part != "." { folders.append(String(part)) }
        }
        return folders.joined(separator: "/")
    }

    static let all: [DocumentationPage] = {
        let root = TestEnvironment.packageRoot
        let docs = FileManager.default.enumerator(atPath: root.appending(path: "docs").path)
        let paths =
            ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"]
            + (docs?.compactMap { $0 as? String } ?? []).filter { $0.hasSuffix(".md") }.map { "docs/\($0)" }
        return paths.sorted().compactMap { path in
            let text = try? String(contentsOf: root.appending(path: path), encoding: .utf8)
            return text.map { DocumentationPage(path: path, text: $0) }
        }
    }()
}
