import Foundation

/// One line on standard error that is written over again and again; nothing where that is no terminal, or where
/// `NO_COLOR` asks for plain text.
struct ProgressLine: Sendable {
    /// Whether a person sees it.
    let isShown: Bool

    init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        isShown =
            isatty(STDERR_FILENO) == 1 && environment["TERM"] != "dumb" && (environment["NO_COLOR"] ?? "").isEmpty
    }

    /// None where the console prints JSON.
    init(_ console: Console) { isShown = !console.isJSON && ProgressLine().isShown }

    /// Replaces the line; what does not fit into the terminal is cut off, for a second line would not be written over.
    func show(_ text: String) {
        guard isShown else { return }
        write("\r" + text.prefix(ProgressLine.columns - 1) + "\u{1B}[K")
    }

    /// Takes the line away, before something else is written.
    func clear() {
        if isShown { write("\r\u{1B}[K") }
    }

    private func write(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }

    /// The width of the terminal of standard error; 80 when it does not tell.
    static var columns: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}
