import Domain
import Foundations
import Testing

@testable import ServiceConfiguration
@testable import ServiceRuntime

@Suite("How a service ends that cannot go on")
struct ServiceFailureTests {
    /// An error of a library, whose text could repeat a secret.
    private struct Foreign: Error, CustomStringConvertible {
        let description = "cannot open amqp://securepush:secret@broker"
    }

    @Test func `Each issue of the settings is a line`() {
        let error = ConfigurationError([
            ConfigurationIssue(key: "A", problem: "is odd"), ConfigurationIssue(key: "B", problem: "is even"),
        ])
        let (lines, code) = ServiceFailure.report(error)
        #expect(lines == ["error: A: is odd", "error: B: is even"])
        #expect(code == 78)
    }

    @Test func `An unusable database URL is a mistake in the settings`() {
        let (lines, code) = ServiceFailure.report(StorageError(.invalid, "no such scheme"))
        #expect(lines == ["error: DATABASE_URL: no such scheme"])
        #expect(code == 78)
        let sources = ConfigurationReader(environment: ["SECUREPUSH_DATABASE_URL": "x"])
        let named = ServiceFailure.report(StorageError(.invalid, "no such scheme"), sources)
        #expect(named.lines == ["error: DATABASE_URL: no such scheme (from SECUREPUSH_DATABASE_URL)"])
    }

    @Test func `Other errors are one line without secrets`() {
        let (lines, code) = ServiceFailure.report(SetupError(.malformed, "first line\nsecond line"))
        #expect(lines == ["error: first line second line"])
        #expect(code == 1)
        let foreign = ServiceFailure.report(Foreign())
        #expect(foreign.code == 1 && foreign.lines.count == 1 && !foreign.lines[0].contains("secret"))
        #expect(ServiceFailure.report(StorageError(.migrationNeeded, "x")).code == 1)
        #expect(ServiceFailure.report(CancellationError()).code == 1)
    }
}
