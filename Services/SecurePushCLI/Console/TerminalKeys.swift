import Foundation

/// A terminal on standard input that gives each key at once and without echo. Ctrl-C still sends SIGINT.
struct TerminalKeys: Sendable {
    private let before: termios

    /// Changes the terminal's mode; `nil` if standard input is not a terminal, or is that of another process group: a
    /// job in the background that changes the mode is stopped (SIGTTOU, POSIX 11.1.4).
    init?() {
        var settings = termios()
        let foreground = tcgetpgrp(STDIN_FILENO)
        guard isatty(STDIN_FILENO) == 1, foreground == -1 || foreground == getpgrp(),
            tcgetattr(STDIN_FILENO, &settings) == 0
        else { return nil }
        before = settings
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
        guard tcsetattr(STDIN_FILENO, TCSANOW, &settings) == 0 else { return nil }
    }

    /// Restores the terminal's mode, and drops keys that were typed and not read.
    func close() {
        var settings = before
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
    }

    /// Waits until one of the keys is pressed, or until cancelled. Polls, because a blocking read would hold a thread
    /// that other tasks need.
    func wait(for keys: Set<Character>) async throws {
        while true {
            while let key = Self.next() { if keys.contains(key) { return } }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// A key that was pressed; `nil` if there is none.
    private static func next() -> Character? {
        var descriptor = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        var byte: UInt8 = 0
        guard poll(&descriptor, 1, 0) > 0, read(STDIN_FILENO, &byte, 1) == 1 else { return nil }
        return Character(UnicodeScalar(byte))
    }
}
