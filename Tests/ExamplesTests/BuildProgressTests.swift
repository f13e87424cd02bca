import Foundation
import StackKit
import TestSupport
import Testing

/// The lines that `make demo` shows of the first build, which takes minutes.
@Suite(.timeLimit(.minutes(5))) struct BuildProgressTests {
    private func progress(_ input: String) async throws -> [String] {
        let script = "NO_COLOR=1; . scripts/common.sh; . scripts/build-progress.sh; { \(input); } | build_progress"
        let run = try await result(
            of: "/bin/bash", ["-euo", "pipefail", "-c", script], in: TestEnvironment.packageRoot)
        #expect(run.exitCode == 0)
        return run.output.split(separator: "\n").map(String.init)
    }

    @Test func `One line for each tenth, the errors and the end`() async throws {
        let lines = try await progress(
            #"for i in $(seq 0 200); do echo "[$i/200] Compiling A b.swift"; done; echo "a.swift:1: error: no"; "#
                + #"echo "Build complete! (1.00s)""#)
        let tenths = (0...10).map { "  [\($0 * 20)/200] \($0 * 10) %" }
        #expect(lines == tenths + ["a.swift:1: error: no", "Build complete! (1.00s)"])
    }

    @Test func `Lines that only look like steps`() async throws {
        #expect(try await progress("echo '[0/0] x'; echo '[a/b] x'; echo '[/]'; printf 'Build done'") == ["Build done"])
    }
}
