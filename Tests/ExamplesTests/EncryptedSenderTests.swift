import Foundation
import StackKit
import TestSupport
import Testing

/// `Examples/Send/encrypted.py` and `encrypted.mjs` make the envelopes of `Clients/vectors/e2e.json`. The one in Python is
/// also half of the reference that writes the file. Without the language a test only says so.
@Suite(.timeLimit(.minutes(5))) struct EncryptedSenderTests {
    /// No such program (`env`), and EX_UNAVAILABLE: a library is missing.
    private static let unavailable: [Int32?] = [127, 69]

    private func check(_ program: String, _ arguments: [String]) async throws -> String? {
        let file = TestEnvironment.packageRoot.appending(path: "Clients/vectors/reference/\(arguments[0])").path
        do {
            return try await run("/usr/bin/env", [program, file] + arguments.dropFirst(), within: .seconds(240))
        } catch let error as ProgramFailed where error.exitCode.map(Self.unavailable.contains) == true {
            print("SKIPPED: \(arguments[0]) did not run. \(error.output)")
            return nil
        }
    }

    @Test func `The vectors are those of the reference in Python`() async throws {
        guard let output = try await check("python3", ["write.py", "check"]) else { return }
        #expect(output.contains(/e2e\.json: [1-9]\d\d cases/) && output.contains(/signatures\.json: [1-9]\d\d cases/))
    }

    @Test func `The sender in JavaScript makes the same envelopes`() async throws {
        guard let output = try await check("node", ["check.mjs"]) else { return }
        #expect(output.contains(/[1-9]\d\d envelopes are the same/))
    }
}
