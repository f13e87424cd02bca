import Foundation
import StackKit
import TestSupport
import Testing

/// The lines that `make demo` shows of the first build, which takes minutes.
@Suite(.timeLimit(.minutes(5))) struct BuildProgressTests {
    private func progress(
        _ input: String, steps: Int = 0, isTerminal: Bool = false
    ) async throws -> [String] {
        let script = """
            NO_COLOR=1; . scripts/common.sh; . scripts/build-progress.sh
            full_build=\(steps); terminal=\(isTerminal ? "yes" : "no"); { \(input); } | build_progress
            """
        let run = try await result(
            of: "/bin/bash", ["-euo", "pipefail", "-c", script], in: TestEnvironment.packageRoot)
        #expect(run.exitCode == 0)
        return run.output.split(separator: "\n").map(String.init)
    }

    @Test func `One line for each tenth, the errors and the end`() async throws {
        let lines = try await progress(
            #"for i in $(seq 0 200); do echo "[$i/200] Compiling A b.swift"; done; echo "a.swift:1: error: no"; "#
                + #"echo "Build complete! (1.00s)""#)
        // How long it took follows.
        #expect(lines.dropLast(2).map { $0.prefix { $0 != "," } } == (0...10).map { "  [\($0 * 20)/200] \($0 * 10) %" })
        #expect(lines.suffix(2) == ["a.swift:1: error: no", "Build complete! (1.00s)"])
    }

    /// SwiftPM begins with a total that is far too small.
    @Test func `A build from nothing is measured by the steps that it will have`() async throws {
        let lines = try await progress(#"echo "[99/100] Compiling A b.swift"; echo "Build complete!""#, steps: 990)
        #expect(lines.map { $0.prefix { $0 != "," } } == ["  [99/990] 10 %", "Build complete!"])
    }

    @Test func `On a terminal one line changes`() async throws {
        let lines = try await progress(
            #"echo "[50/100] Compiling A b.swift"; sleep 3; echo "Build complete!""#, isTerminal: true)
        #expect(lines.count <= 2, "\(lines)")
        #expect(lines.first?.contains("\r\u{1B}[K  [50/100] 50 %, 0:0") == true)
        #expect(lines.first?.contains("\r\u{1B}[KBuild complete!") == true)
    }

    @Test func `Lines that only look like steps`() async throws {
        #expect(try await progress("echo '[0/0] x'; echo '[a/b] x'; echo '[/]'; printf 'Build done'") == ["Build done"])
    }
}
