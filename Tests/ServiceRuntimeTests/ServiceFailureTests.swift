import SecurePushCore
import Testing

@testable import ServiceConfiguration
@testable import ServiceRuntime

@Suite("How a service ends that cannot go on")
struct ServiceFailureTests {
    private struct Broken: Error, CustomStringConvertible {
        let description = "first line\nsecond line"
    }

    @Test func configuration() {
        let error = ConfigurationError([
            ConfigurationIssue(key: "A", problem: "is odd"), ConfigurationIssue(key: "B", problem: "is even"),
        ])
        let (lines, code) = ServiceFailure.report(error, name: "ingest")
        #expect(lines == ["ingest: A: is odd", "ingest: B: is even"])
        #expect(code == 78)
    }

    @Test func unusableDatabaseURL() {
        let (lines, code) = ServiceFailure.report(StorageError(.invalid, "no such scheme"), name: "ingest")
        #expect(lines == ["ingest: DATABASE_URL: no such scheme"])
        #expect(code == 78)
    }

    @Test func otherErrors() {
        let (lines, code) = ServiceFailure.report(Broken(), name: "ingest")
        #expect(lines == ["ingest: first line second line"])
        #expect(code == 1)
        #expect(ServiceFailure.report(StorageError(.migrationNeeded, "x"), name: "i").code == 1)
        #expect(ServiceFailure.report(CancellationError(), name: "i").code == 1)
    }
}
