import Foundation
import StackKit
import Synchronization
import TestSupport
import Testing

@testable import SecurePushCLI

/// `securepush top` on a terminal: how it is left, and that it leaves the terminal as it was.
@Suite(.timeLimit(.minutes(2))) struct TopTerminalTests {
    /// A pseudo-terminal with a program on it.
    private final class Terminal: Sendable {
        let program: FileHandle
        private let user: Int32
        private let text = Mutex("")

        init() throws {
            var (user, program): (Int32, Int32) = (-1, -1)
            guard openpty(&user, &program, nil, nil, nil) == 0 else { throw POSIXError(.ENODEV) }
            self.user = user
            self.program = FileHandle(fileDescriptor: program, closeOnDealloc: true)
            _ = fcntl(user, F_SETFL, O_NONBLOCK)
        }

        deinit { close(user) }

        /// What the program has drawn so far.
        var output: String {
            text.withLock { text in
                var bytes = [UInt8](repeating: 0, count: 4096)
                while true {
                    let count = read(user, &bytes, bytes.count)
                    guard count > 0 else { return text }
                    text += String(decoding: bytes[..<count], as: UTF8.self)
                }
            }
        }

        func type(_ key: UInt8) { _ = withUnsafeBytes(of: key) { write(user, $0.baseAddress, 1) } }

        /// Whether it echoes and collects lines.
        var isOrdinary: Bool {
            var settings = termios()
            guard tcgetattr(program.fileDescriptor, &settings) == 0 else { return false }
            return settings.c_lflag & tcflag_t(ICANON | ECHO) == tcflag_t(ICANON | ECHO)
        }
    }

    @Test(arguments: ["q", "Q", "SIGINT", "SIGTERM"])
    func `A key or a signal leaves it, and the terminal is as before`(way: String) async throws {
        let terminal = try Terminal()
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
        // Another key does nothing.
        terminal.type(UInt8(ascii: "x"))
        switch way {
        case "SIGINT": kill(top.processIdentifier, SIGINT)
        case "SIGTERM": kill(top.processIdentifier, SIGTERM)
        default: terminal.type(Character(way).asciiValue ?? 0)
        }
        // What it draws is read meanwhile: a full terminal would hold it up.
        #expect(try await eventually { !terminal.output.isEmpty && !top.isRunning })
        #expect(top.terminationReason == .exit && top.terminationStatus == 0)
        #expect(terminal.isOrdinary)
        // The previous content of the screen is back, and the cursor too.
        #expect(terminal.output.hasSuffix("\u{1B}[?25h\u{1B}[?1049l"))
    }
}
