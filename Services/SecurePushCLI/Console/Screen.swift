import Foundation

/// The whole terminal of standard output, drawn over and over; gives back what was there before (ECMA-48, and xterm's
/// alternate screen).
struct Screen: Sendable {
    func open() { write("\u{1B}[?1049h\u{1B}[?25l") }
    func close() { write("\u{1B}[?25h\u{1B}[?1049l") }

    /// Shows these lines and nothing else, without a flicker between.
    func draw(_ lines: [String]) {
        write("\u{1B}[H" + lines.map { $0 + "\u{1B}[K\r\n" }.joined() + "\u{1B}[J")
    }

    private func write(_ text: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
    }
}

extension Console {
    /// Whether a person sees standard output as it is written.
    static var isTerminal: Bool {
        isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    }
}
