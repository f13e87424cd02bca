import Foundation
import StackKit
import TestSupport
import Testing

/// `make bench` fails when an operation takes more instructions than are recorded for it.
@Suite(.timeLimit(.minutes(5))) struct BenchmarkThresholdTests {
    private static let folder = TestEnvironment.packageRoot.appending(path: "Tools/Benchmarks")

    @Test func `Five per cent more is allowed`() async throws {
        #expect(try await compare(recorded: ["a": 1000, "b": 10], measured: ["a": 1050, "b": 10]) == "")
    }

    @Test func `More is a failure that says how to accept it`() async throws {
        let error = await #expect(throws: ProgramFailed.self) {
            try await compare(recorded: ["a": 1000, "b": 10], measured: ["a": 1051, "b": 10])
        }
        let output = try #require(error?.output)
        #expect(output.contains("FAILED: a takes 1,051 instructions, +5.1% of the recorded 1,000."))
        #expect(output.contains("make bench ARGS=--accept"))
        #expect(!output.contains("FAILED: b"))
    }

    @Test func `Less is noted`() async throws {
        let output = try await compare(recorded: ["a": 1000], measured: ["a": 900])
        #expect(output.contains("note: a takes 900 instructions, -10.0% of the recorded 1,000"))
    }

    /// Otherwise a new operation, or a renamed one, would be compared with nothing.
    @Test(arguments: [(["a": 1], ["a": 1, "b": 1]), (["a": 1, "b": 1], ["a": 1])])
    func `Each operation has a figure`(_ recorded: [String: Int], _ measured: [String: Int]) async throws {
        let error = await #expect(throws: ProgramFailed.self) {
            try await compare(recorded: recorded, measured: measured)
        }
        #expect(error?.output.contains("FAILED: b ") == true)
    }

    @Test func `All operations are recorded`() throws {
        let text = try String(contentsOf: Self.folder.appending(path: "thresholds.json"), encoding: .utf8)
        let recorded = try JSONDecoder().decode(Figures.self, from: Data(text.utf8)).operations
        #expect(recorded.values.allSatisfy { $0.instructions > 0 })
        let sources = try FileManager.default.contentsOfDirectory(at: Self.folder, includingPropertiesForKeys: nil)
            .filter { $0.lastPathComponent.hasSuffix("Operations.swift") }
            .map { try String(contentsOf: $0, encoding: .utf8) }.joined()
        // Operation("name", count: 60), sealing("name", 1024, count: 60)
        let names = sources.matches(of: #/"([a-z]+\.[^" ]+)", (?:[0-9_]+, )?count: /#).map { String($0.1) }
        #expect(Set(recorded.keys) == Set(names))
    }

    private struct Figures: Codable {
        struct Figure: Codable { var instructions: Int }

        var operations: [String: Figure]
    }

    /// What the comparison says of figures.
    @discardableResult
    private func compare(recorded: [String: Int], measured: [String: Int]) async throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: "thresholds-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var paths: [String] = []
        for (name, figures) in [("recorded", recorded), ("measured", measured)] {
            let file = folder.appending(path: "\(name).json")
            let operations = figures.mapValues { Figures.Figure(instructions: $0) }
            try JSONEncoder().encode(Figures(operations: operations)).write(to: file)
            paths.append(file.path)
        }
        return try await run("python3", [Self.folder.appending(path: "measure.py").path, "--compare"] + paths)
    }
}
