import ArgumentParser

/// A command that writes to a ``Console`` and ends in a ``CommandFailure`` when it fails.
protocol ConsoleCommand: AsyncParsableCommand {
    var output: OutputOptions { get }

    func run(on console: Console) async throws
}

extension ConsoleCommand {
    mutating func run() async throws {
        let console = Console(output)
        do {
            try await run(on: console)
        } catch let error as ExitCode {
            throw error
        } catch {
            let failure = CommandFailure(describing: error)
            console.report(failure)
            throw failure.exitCode
        }
    }
}
