import Foundation
import StackKit
import TestSupport
import Testing

@testable import SecurePushCLI

/// `securepush top` on a terminal: how it is left, and that it leaves the terminal as it was.
@Suite(.timeLimit(.minutes(5))) struct TopTerminalTests {
    @Test(arguments: ["q", "Q", "SIGINT", "SIGTERM"])
    func `A key or a signal leaves it, and the terminal is as before`(way: String) async throws {
        let terminal = try PseudoTerminal()
        let top = Process()
        top.executableURL = ProcessUnderTest.executables.appending(path: "securepush")
        top.arguments = ["top", "--interval", "200ms"] + ["ingest", "retrieval"].flatMap { ["--\($0)-url", ""] }
        top.environment = ["TERM": "xterm", "DISPATCHER_URL": "http://127.0.0.1:1"]
        (top.standardInput, top.standardOutput) = (terminal.program, terminal.program)
        top.standardError = terminal.program
        #expect(terminal.isOrdinary)
        try top.run()
        defer { if top.isRunning { kill(top.processIdentifier, SIGKILL) } }
        let isDrawn = try await eventually { terminal.output.contains("q leaves") && !terminal.isOrdinary }
        #expect(isDrawn, "\(terminal.output)")
        switch way {
        case "SIGINT": kill(top.processIdentifier, SIGINT)
        case "SIGTERM": kill(top.processIdentifier, SIGTERM)
        default:
            // Another key does nothing. It is read before the one that leaves; before a signal it might be read by nobody,
            // and be echoed by the terminal as it was.
            terminal.type("x")
            terminal.type(way)
        }
        // What it draws is read meanwhile: a full terminal would hold it up.
        #expect(try await eventually { !terminal.output.isEmpty && !top.isRunning })
        #expect(top.terminationReason == .exit && top.terminationStatus == 0)
        #expect(terminal.isOrdinary)
        // The previous content of the screen is back, and the cursor too.
        // The test may read the last bytes only after the process has ended.
        let isRestored = try await eventually { terminal.output.hasSuffix("\u{1B}[?25h\u{1B}[?1049l") }
        #expect(isRestored, "\(terminal.output.suffix(200).debugDescription)")
    }
}
