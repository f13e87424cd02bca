import Foundation
import StackKit
import TestSupport
import Testing

/// Every command of every document is run, or named with a reason in `Tests/Documents/commands.txt`.
@Suite(.timeLimit(.minutes(16))) struct DocumentTests {
    @Test func `Every command is run or excepted`() async throws {
        let script = TestEnvironment.packageRoot.appending(path: "scripts/documents.py").path
        let report = try await StackKit.run("python3", [script], within: .seconds(900))
        print(report)
    }
}
