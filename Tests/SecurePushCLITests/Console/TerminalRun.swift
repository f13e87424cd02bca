import Foundation
import StackKit
import TestSupport

/// One run of the real `securepush` on a terminal of its own.
struct TerminalRun {
    var code: Int32?
    /// Everything that the terminal showed.
    var screen: String

    var lines: [String] { screen.split(whereSeparator: \.isNewline).map(String.init) }

    /// - Parameters:
    ///   - answers: what is typed after each of these texts has appeared, in this order.
    ///   - columns: the width of the terminal.
    init(
        _ arguments: [String], _ environment: [String: String] = [:], in folder: String, columns: Int = 80,
        typing answers: [(prompt: String, answer: String)] = []
    ) async throws {
        let terminal = try PseudoTerminal(columns: columns)
        let process = Process()
        process.executableURL = ProcessUnderTest.executables.appending(path: "securepush")
        process.arguments = arguments
        process.environment = ["TERM": "xterm", "NO_COLOR": "1"].merging(environment) { $1 }
        process.currentDirectoryURL = URL(filePath: folder)
        (process.standardInput, process.standardOutput) = (terminal.program, terminal.program)
        process.standardError = terminal.program
        try process.run()

        var answers = answers[...]
        var seen = 0
        let isDone = try await eventually {
            // First the end, then the rest of the output: nothing is written after the end.
            let hasEnded = !process.isRunning
            let output = Array(terminal.output.utf8)
            if let next = answers.first, String(decoding: output[seen...], as: UTF8.self).contains(next.prompt) {
                seen = output.count
                answers.removeFirst()
                terminal.type(next.answer + "\n")
            }
            return hasEnded
        }
        if !isDone { process.terminate() }
        code = isDone ? process.terminationStatus : nil
        screen = terminal.output
    }
}
