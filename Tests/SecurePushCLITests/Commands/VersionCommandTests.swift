import Domain
import Foundations
import ServiceRuntime
import Testing

@testable import SecurePushCLI

@Suite(.timeLimit(.minutes(3))) struct VersionCommandTests {
    @Test func `The version names revision, libraries and platform`() async throws {
        let text = try await CommandLineRun(["version"])
        #expect(text.code == 0 && text.errors.isEmpty)
        #expect(text.output.hasPrefix(SecurePushVersion.line(of: "securepush") + "\n"))
        let line = try await CommandLineRun(["--version"])
        #expect(line.output == SecurePushVersion.line(of: "securepush") + "\n")

        let json = try await CommandLineRun(["version", "--json"])
        let document = try #require(JSONValue(text: json.output))
        #expect(document["Name"]?.text == "securepush")
        #expect(document["Version"]?.text == SecurePushVersion.current)
        #expect(document["Revision"]?.text == SecurePushVersion.revision)
        for member in ["Librabbitmq", "Libpq", "SQLite", "Swift"] {
            let version = try #require(document[member]?.text)
            #expect(version.first?.isNumber == true, "\(member): \(version)")
        }
        #expect(document["Platform"]?.text?.isEmpty == false)
    }
}
