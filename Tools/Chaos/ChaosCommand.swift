import ArgumentParser
import ChaosChecker
import Dispatch
import Foundation

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// `chaos`: breaks a private stack by a seeded plan while notifications go through it, and judges what came of them.
@main
struct ChaosCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chaos",
        abstract: "Break a private stack while notifications go through it, and prove that nothing is lost.",
        discussion: """
            Starts RabbitMQ, a database, the hub emulator, or `hub` and a push service, and the services on loopback, sends notifications, kills
            processes by a seeded plan, and checks the history. Exits with 0 if the history meets every criterion,
            otherwise with 1. docs/explanation/chaos-testing.md explains the table.

            EXAMPLES
              chaos --count 2000 --seed 7
              chaos --count 100000 --dispatchers 4 --kills rabbitmq=10,postgres=10,ingest=10,dispatcher=50
              chaos --hub own --hubs 2 --kills rabbitmq=1,postgres=1,ingest=2,dispatcher=3,hub=10
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
        // Progress goes to standard error; a pipe that is closed must not end a run whose servers still work.
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

/// Runs a body whose task is cancelled by Ctrl-C and SIGTERM, so that it can end the processes that it started.
func withInterruption(_ body: @escaping @Sendable () async -> Void) async {
    let task = Task { await body() }
    let sources = [SIGINT, SIGTERM].map { number in
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler { task.cancel() }
        source.resume()
        return source
    }
    await task.value
    for source in sources { source.cancel() }
}

/// The messages during a run. They go to standard error, so that standard output has only the verdict.
enum Report {
    static func line(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
    }
}
