import Foundation

/// What comes by standard input.
enum StandardInput {
    static var isTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    /// Everything to the end, as UTF-8.
    static func readAll() throws -> String {
        let data = try FileHandle.standardInput.readToEnd() ?? Data()
        guard let text = String(data: data, encoding: .utf8) else {
            throw CommandFailure(.usage, "Standard input is not UTF-8.")
        }
        return text
    }

    /// A password: the first line of standard input, asked for without echo on a terminal.
    static func readPassword(prompt: String) throws -> String {
        if isTerminal { FileHandle.standardError.write(Data(prompt.utf8)) }
        let line = withoutEcho { Swift.readLine(strippingNewline: true) }
        guard let line, !line.isEmpty else { throw CommandFailure(.usage, "There is no password on standard input.") }
        return line
    }

    private static func withoutEcho<Value>(_ body: () -> Value) -> Value {
        var settings = termios()
        guard isTerminal, tcgetattr(STDIN_FILENO, &settings) == 0 else { return body() }
        var silent = settings
        silent.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
        defer {
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
            FileHandle.standardError.write(Data("\n".utf8))
        }
        return body()
    }
}
