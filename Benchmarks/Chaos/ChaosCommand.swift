import ArgumentParser
import ChaosChecker
import Foundation

/// `chaos`: breaks a private stack by a seeded plan while notifications go through it, and judges what came of them.
@main
struct ChaosCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chaos",
        abstract: "Break a private stack while notifications go through it, and prove that nothing is lost.",
        discussion: """
            Starts RabbitMQ, a database, the hub emulator and the services of its own build folder on loopback, sends
            notifications, kills what the plan says, and checks the history. Exit code 0 when every bar is met, 1 when
            not. docs/chaos.md tells how to read the table.

            EXAMPLES
              chaos --count 2000 --seed 7
              chaos --count 100000 --dispatchers 4 --kills rabbitmq=10,postgres=10,ingest=10,dispatcher=50
              chaos --check-only history.ndjson
            """)

    @OptionGroup var options: ChaosOptions

    private struct Output: Encodable {
        let passes: Bool
        let failures: [String]
        let verdict: Verdict
    }

    func validate() throws {
        if let problem = options.problem { throw ValidationError(problem) }
    }

    func run() async throws {
        // Progress goes to standard error; a pipe that is closed must not end a run with servers under way.
        signal(SIGPIPE, SIG_IGN)
        if let history = options.checkOnly {
            try conclude(HistoryFile.check(URL(filePath: history)))
            return
        }
        let plan = FaultPlan(options.planRequest)
        Report.line(options.summary)
        for line in plan.lines { Report.line(line) }
        if options.planOnly { return }
        let folder = try RunFolder(options.directory)
        let history = folder.url.appending(path: "history.ndjson")
        let writer = try HistoryWriter(history)
        let run = ChaosRun(options: options, plan: plan, folder: folder, history: writer)
        await withInterruption { await run.run() }
        try writer.close()
        Report.line("history: \(history.path)")
        try conclude(HistoryFile.check(history))
    }

    private func conclude(_ verdict: Verdict) throws {
        if options.json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
            let output = Output(passes: verdict.passes, failures: verdict.failures, verdict: verdict)
            FileHandle.standardOutput.write(try encoder.encode(output) + Data("\n".utf8))
        } else {
            FileHandle.standardOutput.write(Data((verdict.text + "\n").utf8))
        }
        if !verdict.passes { throw ExitCode(1) }
    }
}
