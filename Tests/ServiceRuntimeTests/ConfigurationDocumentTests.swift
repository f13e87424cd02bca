import Foundation
import ServiceConfiguration
import TestSupport
import Testing

@Suite struct ConfigurationDocumentTests {
    /// docs/reference/configuration.md holds the table that the keys themselves give. On a difference the test prints
    /// it.
    @Test func theDocumentIsTrue() throws {
        let file = TestEnvironment.packageRoot.appending(path: "docs/reference/configuration.md")
        let table = ConfigurationKeys.markdownTable()
        let document = try String(contentsOf: file, encoding: .utf8)
        #expect(document.contains(table), "Put this table into docs/reference/configuration.md:\n\(table)")
    }
}
