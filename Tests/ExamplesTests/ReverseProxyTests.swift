import Foundation
import StackKit
import TestSupport
import Testing

/// `deploy/nginx/securepush.conf`: `scripts/nginx-check.py` runs nginx with it before the services of this build.
/// Without nginx this test only says so.
@Suite(.timeLimit(.minutes(10))) struct ReverseProxyTests {
    /// EX_UNAVAILABLE.
    private static let unavailable: Int32 = 69

    @Test func `nginx streams batches, survives restarts and closes what is not for clients`() async throws {
        let root = TestEnvironment.packageRoot
        do {
            let output = try await run(
                root.appending(path: "scripts/nginx-check.py").path, [root.appending(path: ".build/debug").path],
                within: .seconds(540))
            #expect(output.contains(/20 MB both ways/))
            #expect(output.contains(/[1-9]\d* checks passed/))
        } catch let error as ProgramFailed where error.exitCode == Self.unavailable {
            let isCI = ProcessInfo.processInfo.environment["CI"] != nil
            try #require(!isCI, "\(error)")
            print("SKIPPED: nginx was not tested. \(error.output)")
        }
    }

    /// `scripts/nginx-check.py` runs one of them during a restart.
    @Test(arguments: [
        "Send.java", "csharp/Program.cs", "send.go", "send.mjs", "send.php", "send.py", "send.rb", "send.swift",
    ]) func `A sample repeats a request after 502, 503 and 504`(name: String) throws {
        let file = TestEnvironment.packageRoot.appending(path: "Examples/Send/\(name)")
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(text.contains(/409,? 429,? 502,? 503,? 504/))
    }
}
