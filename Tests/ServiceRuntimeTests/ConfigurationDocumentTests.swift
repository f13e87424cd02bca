import Foundation
import ServiceConfiguration
import TestSupport
import Testing

@Suite struct ConfigurationDocumentTests {
    /// docs/reference/configuration.md holds the table that the keys themselves give. On a difference the test prints
    /// it.
    @Test func `The reference page holds the table of the keys`() throws {
        let file = TestEnvironment.packageRoot.appending(path: "docs/reference/configuration.md")
        let document = try String(contentsOf: file, encoding: .utf8)
        let rows = ConfigurationKeys.all.map(Self.row)
        let table = (["| key | flag | default | meaning |", "| --- | --- | --- | --- |"] + rows).joined(separator: "\n")
        #expect(document.contains(table + "\n"), "Put this table into docs/reference/configuration.md:\n\(table)")
    }

    private static func row(_ key: any ConfigurationKeyDescription) -> String {
        let flags = key.flags.map { "`\($0)`" }.joined(separator: ", ")
        let standard = key.defaultValue.map { "`\($0)`" } ?? key.defaultText ?? "none"
        return "| `\(key.name)` | \(flags) | \(standard) | \(key.meaning.replacing("|", with: "\\|")) |"
    }
}
