import Foundation
import TestSupport
import Testing

/// `docs/contributing/contract-tests.md` names tests that are there.
@Suite struct ContractTableTests {
    private static func named() throws -> [(suite: String, test: String)] {
        let file = TestEnvironment.packageRoot.appending(path: "docs/contributing/contract-tests.md")
        let text = try String(contentsOf: file, encoding: .utf8)
        return text.matches(of: /`([A-Z][A-Za-z]+Tests)\.([^`]+)`/).map { (String($0.1), String($0.2)) }
    }

    @Test func `Every test that the table names is there`() throws {
        let named = try Self.named()
        #expect(named.count > 100)
        for (suite, test) in named {
            let files = SourceFile.all.filter { $0.path.hasPrefix("Tests/") && $0.path.hasSuffix("/\(suite).swift") }
            let isThere = files.contains { file in
                file.lines.contains { $0.contains("func `\(test)`(") || $0.contains("func \(test)(") }
            }
            #expect(isThere, "\(suite).\(test)")
        }
    }

    @Test func `Every suite that the table names is there`() throws {
        let file = TestEnvironment.packageRoot.appending(path: "docs/contributing/contract-tests.md")
        let text = try String(contentsOf: file, encoding: .utf8)
        for match in text.matches(of: /`([A-Z][A-Za-z]+Tests)`/) where match.1 != "ContractTableTests" {
            #expect(SourceFile.all.contains { $0.path.hasSuffix("/\(match.1).swift") }, "\(match.1)")
        }
    }

    @Test func `Every row names a test or says why there is none`() throws {
        let file = TestEnvironment.packageRoot.appending(path: "docs/contributing/contract-tests.md")
        let rows = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").filter {
            $0.hasPrefix("| ") && !$0.hasPrefix("| line |") && !$0.hasPrefix("| --- |")
        }
        for row in rows {
            #expect(row.contains("Tests") || row.contains("none is answered"), "\(row)")
        }
    }
}
