import Foundation
import StackKit
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// One run of the real `securepush` on a terminal of its own. Linux only.
struct PseudoTerminal {
    var code: Int32?
    /// What the terminal showed: both outputs, and what was typed unless the program switched the echo off.
    var screen: String

    var lines: [String] { screen.split(whereSeparator: \.isNewline).map(String.init) }

    struct Unavailable: Error {}

    /// - Parameters:
    ///   - answers: what is typed after each of these texts has appeared, in this order.
    ///   - columns: the width of the terminal.
    init(
        _ arguments: [String], _ environment: [String: String] = [:], in folder: String, columns: Int = 80,
        typing answers: [(prompt: String, answer: String)] = []
    ) async throws {
        // Foundation's Glibc has no posix_openpt; these are the requests that it makes on Linux (pts(4)).
        let primary = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK)
        guard primary >= 0 else { throw Unavailable() }
        defer { close(primary) }
        var (lock, number) = (Int32(0), UInt32(0))
        guard ioctl(primary, 0x4004_5431, &lock) == 0, ioctl(primary, 0x8004_5430, &number) == 0 else {
            throw Unavailable()
        }
        let replica = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
        guard replica >= 0 else { throw Unavailable() }
        defer { close(replica) }
        var size = winsize()
        (size.ws_row, size.ws_col) = (40, UInt16(columns))
        guard ioctl(replica, UInt(TIOCSWINSZ), &size) == 0 else { throw Unavailable() }
        let terminal = FileHandle(fileDescriptor: replica, closeOnDealloc: false)
        let process = Process()
        process.executableURL = ProcessUnderTest.executables.appending(path: "securepush")
        process.arguments = arguments
        process.environment = ["TERM": "xterm", "NO_COLOR": "1"].merging(environment) { $1 }
        process.currentDirectoryURL = URL(filePath: folder)
        (process.standardInput, process.standardOutput, process.standardError) = (terminal, terminal, terminal)
        try process.run()

        var screen: [UInt8] = []
        var answers = answers[...]
        var seen = 0
        let isDone = try await eventually(within: .seconds(60)) {
            // First the end, then the rest of the output: nothing is written after the end.
            let hasEnded = !process.isRunning
            var buffer = [UInt8](repeating: 0, count: 4096)
            while case let count = Glibc.read(primary, &buffer, buffer.count), count > 0 { screen += buffer[..<count] }
            let text = String(decoding: screen[seen...], as: UTF8.self)
            if let next = answers.first, text.contains(next.prompt) {
                seen = screen.count
                answers.removeFirst()
                let typed = Array((next.answer + "\n").utf8)
                _ = Glibc.write(primary, typed, typed.count)
            }
            return hasEnded
        }
        if !isDone { process.terminate() }
        code = isDone ? process.terminationStatus : nil
        self.screen = String(decoding: screen, as: UTF8.self)
    }
}
