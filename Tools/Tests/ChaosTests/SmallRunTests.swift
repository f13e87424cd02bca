import ChaosChecker
import Foundation
import StackKit
import Testing

/// The headline experiment, small, with real processes.
@Suite("make chaos, small", .serialized, .timeLimit(.minutes(15)))
struct SmallRunTests {
    private static let arguments = [
        "--count", "240", "--recipients", "10", "--seed", "11", "--kills",
        "rabbitmq=1,postgres=1,ingest=1,dispatcher=1",
        "--storms", "1", "--stops", "1", "--terms", "1", "--silences", "1", "--read-onlies", "0", "--wipe-broker", "0",
        "--unbinds", "1", "--removals", "1", "--unreads", "1",
        "--rate", "14", "--time-limit", "600",
    ]

    private func chaos(_ arguments: [String]) async throws -> String {
        let script = Scripts.ofThisCheckout.folder.appending(path: "chaos.sh").path
        return try await run("/usr/bin/env", ["CHAOS=\(Self.executable.path)", script] + arguments)
    }

    /// `chaos`, from the folder of the running test bundle.
    private static var executable: URL {
        #if os(macOS)
        let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") } ?? Bundle.main
        return bundle.bundleURL.deletingLastPathComponent().appending(path: "chaos")
        #else
        return URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: "chaos")
        #endif
    }

    private struct Output: Decodable {
        let failures: [String]
        let verdict: Verdict
    }

    /// What a run comes to, whether its bars are met or not.
    private func verdict(_ arguments: [String]) async throws -> Output {
        var text: String
        do { text = try await chaos(arguments + ["--json"]) } catch let failure as ProgramFailed {
            // Without a verdict the run itself has failed.
            guard failure.output.contains("\n{\n") else { throw failure }
            text = failure.output
        }
        let start = try #require(text.firstRange(of: "\n{\n")?.lowerBound, "\(text)")
        let end = try #require(text[start...].firstRange(of: "\n}\n")?.upperBound, "\(text)")
        return try JSONDecoder().decode(Output.self, from: Data(text[start..<end].utf8))
    }

    @Test func `Nothing is lost`() async throws {
        let output = try await verdict(Self.arguments)
        #expect(output.failures == [], "\(output.verdict.text)")
        #expect(output.verdict.row("accepted (201)")?.value == "240")
        #expect(output.verdict.faults["kill dispatcher"] == 1)
        #expect(output.verdict.faults["silence dispatcher"] == 1)
    }

    @Test func `The plan is printed and is the same again`() async throws {
        let plan = try await chaos(Self.arguments + ["--plan-only"])
        #expect(plan.contains("kill rabbitmq-1"), "\(plan)")
        #expect(try await chaos(Self.arguments + ["--plan-only"]) == plan)
    }

    @Test func `Processes of hub are killed in a plan of their own`() async throws {
        let plan = try await chaos(["--hub", "own", "--hubs", "3", "--kills", "hub=10", "--plan-only"])
        #expect(plan.contains("--kills hub=10"), "\(plan)")
        #expect(plan.components(separatedBy: "kill hub-process-").count == 11, "\(plan)")
        #expect(plan.contains("storm hub-1"), "\(plan)")
    }

    @Test(arguments: [
        ["--platforms", "pager"], ["--kills", "rabbitmq"], ["--kills", "moon=1"], ["--nodes", "2"],
        ["--nodes", "3", "--wipe-broker", "1"], ["--database", "sqlite", "--kills", "postgres=1"], ["--count", "0"],
        ["--kills", "hub=1"], ["--hubs", "2"], ["--hub", "own", "--remind-every", "2"],
        ["--hub", "own", "--platforms", "apple,adm"], ["--hub", "own", "--platforms", "apple,apple"],
        ["--hub", "own", "--database", "sqlite", "--hubs", "2"],
    ])
    func `What cannot be run is refused`(_ arguments: [String]) async throws {
        let failure = await #expect(throws: ProgramFailed.self) { try await chaos(arguments) }
        #expect(failure?.exitCode == 64, "\(failure?.output ?? "")")
    }
}
