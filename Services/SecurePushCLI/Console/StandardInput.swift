import ArgumentParser
import Foundation
import Foundations

/// Reads payloads, names and passwords from standard input.
enum StandardInput {
    private static var isTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    /// The longest line that can be a password.
    private static let maxPasswordBytes = 4096

    /// Reads everything up to the end, as UTF-8.
    ///
    /// - Parameter limit: the maximum number of bytes.
    /// - Throws: ``CommandFailure`` with code `usage`.
    static func readAll(upTo limit: Int = 16 << 20) throws -> String {
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = receive(&buffer)
            guard count >= 0 else {
                throw CommandFailure(.failed, "Standard input cannot be read: \(String(cString: strerror(errno))).")
            }
            if count == 0 { break }
            data.append(contentsOf: buffer[..<count])
            guard data.count <= limit else {
                throw CommandFailure(.usage, "Standard input has more than \((limit >> 20).grouped) MiB.")
            }
        }
        guard let text = String(data: data, encoding: .utf8) else {
            throw CommandFailure(.usage, "Standard input is not UTF-8.")
        }
        return text
    }

    /// Reads a password: the first line of standard input. A terminal shows the prompt and does not echo.
    ///
    /// - Parameter confirms: whether a person has to type it twice, because a mistake in a new password is invisible.
    static func readPassword(prompt: String, confirms: Bool = false) throws -> String {
        let password = try readLine(prompt)
        if confirms, isTerminal, try !readLine("Again: ").utf8.elementsEqual(password.utf8) {
            throw CommandFailure(.usage, "The two passwords differ. Nothing was changed.")
        }
        return password
    }

    private static func readLine(_ prompt: String) throws -> String {
        // The prompt comes after the echo is off: nothing that is typed after it can be seen or lost.
        let bytes = withoutEcho {
            if isTerminal { StandardOutput.message(prompt) }
            return readBytes()
        }
        guard bytes.count <= maxPasswordBytes else {
            throw CommandFailure(.usage, "The password has more than \(maxPasswordBytes.grouped) bytes.")
        }
        guard let line = String(validating: bytes, as: UTF8.self) else {
            throw CommandFailure(.usage, "The password is not UTF-8.")
        }
        let password = try SecretText.line(
            OutsideText.trimmedEnd(OutsideText.withoutMark(line)), of: "Standard input", .usage)
        guard !password.isEmpty else {
            throw CommandFailure(
                .usage, "Standard input holds no password.",
                hint: "Type it, pipe it in, or give its file with --password-file.")
        }
        return password
    }

    /// One line with its end, byte by byte, so that the next line stays for the next call.
    private static func readBytes() -> [UInt8] {
        var bytes: [UInt8] = []
        var byte: [UInt8] = [0]
        while bytes.count <= maxPasswordBytes {
            guard receive(&byte) == 1 else { break }
            bytes += byte
            if byte[0] == UInt8(ascii: "\n") { break }
        }
        return bytes
    }

    /// `read(2)`, which waits for bytes also if another program has made the pipe non-blocking.
    private static func receive(_ buffer: inout [UInt8]) -> Int {
        while true {
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            if count >= 0 { return count }
            switch errno {
            case EINTR: continue
            case EAGAIN, EWOULDBLOCK:
                var wait = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
                poll(&wait, 1, 1000)
            default: return count
            }
        }
    }

    private static func withoutEcho<Value>(_ body: () -> Value) -> Value {
        var settings = termios()
        guard isTerminal, tcgetattr(STDIN_FILENO, &settings) == 0 else { return body() }
        var silent = settings
        silent.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
        defer {
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
            StandardOutput.message("\n")
        }
        return body()
    }
}

/// Reads a password from a file or from standard input, never from the value of a flag.
struct PasswordOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("A file with the password (default: standard input).", valueName: "file"),
        completion: .file(), transform: filePath)
    var passwordFile: String?

    func password(of user: String) throws -> String {
        if let passwordFile { return try SecretText.line(file: passwordFile, of: "--password-file") }
        return try StandardInput.readPassword(prompt: "Password of \(user.printable): ")
    }

    /// A password that a user gets. A person has to type it twice.
    ///
    /// - Parameter allowsShort: whether it may have fewer characters than ``minimumLength``.
    func newPassword(of user: String, allowsShort: Bool) throws -> String {
        let password =
            if let passwordFile {
                try SecretText.line(file: passwordFile, of: "--password-file")
            } else {
                try StandardInput.readPassword(prompt: "New password of \(user.printable): ", confirms: true)
            }
        guard allowsShort || password.unicodeScalars.count >= Self.minimumLength else {
            throw CommandFailure(
                .usage, "The password has fewer than \(Self.minimumLength) characters. Nothing was changed.",
                hint: "Choose a longer one, or give --allow-short for a test.")
        }
        return password
    }

    /// In Unicode code points (NIST SP 800-63B, 5.1.1.2).
    static let minimumLength = 8
}
