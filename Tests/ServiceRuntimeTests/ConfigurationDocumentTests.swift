import Foundation
import ServiceConfiguration
import TestSupport
import Testing

@Suite struct ConfigurationDocumentTests {
    /// docs/configuration.md holds the table that the keys themselves give; on a difference the test prints it.
    @Test func theDocumentIsTrue() throws {
        let file = TestEnvironment.packageRoot.appending(path: "docs/configuration.md")
        let table = ConfigurationKeys.markdownTable()
        let document = try String(contentsOf: file, encoding: .utf8)
        #expect(document.contains(table), "Put this table into docs/configuration.md:\n\(table)")
    }
}
