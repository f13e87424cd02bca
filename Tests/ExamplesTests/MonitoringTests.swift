import Foundation
import StackKit
import TestSupport
import Testing

/// The alert rules and dashboards of `deploy/monitoring`.
@Suite(.timeLimit(.minutes(10))) struct MonitoringTests {
    private static let script = TestEnvironment.packageRoot.appending(path: "scripts/monitoring.sh").path

    /// Checks all files, then runs each rule and each query of the dashboards against a Prometheus that scrapes a stack
    /// under load. One test, because `run` begins with `check`.
    @Test func `Rules and dashboards show a stack under load`() async throws {
        let output = try await run(Self.script, ["run"], within: .seconds(580))
        #expect(output.contains(/SUCCESS: \d+ rules found/))
        #expect(output.contains(/[1-9]\d* alerts, [1-9]\d* queries of dashboards, [1-9]\d* series: all agree/))
        #expect(output.contains(/[1-9]\d* queries of 3 dashboards ran/))
        #expect(output.contains("pending or firing: SecurePushDeadLettered"))
    }
}
