import ArgumentParser
import Foundation

/// Files that hold secrets: read whole, made new with mode 0600 in a folder with mode 0700.
///
/// Secrets come from files, standard input or the environment, never from a flag's value, which `ps` shows.
enum SecretFile {
    /// The text of a file, without the line end that editors and `echo` leave.
    static func read(_ path: String) throws -> String {
        guard let data = FileManager.default.contents(atPath: path), let text = String(data: data, encoding: .utf8)
        else { throw CommandFailure(.configuration, "\(path) cannot be read") }
        let line = text.droppingLineEnd
        guard !line.isEmpty else { throw CommandFailure(.configuration, "\(path) is empty") }
        return line
    }

    /// Makes a file that is not there yet; one that is there is left as it is.
    ///
    /// - Returns: whether it was made.
    @discardableResult
    static func create(_ path: String, _ text: String) throws -> Bool {
        try makeFolder(URL(filePath: path).deletingLastPathComponent().path)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            if errno == EEXIST { return false }
            throw CommandFailure(.configuration, "\(path) cannot be made: \(String(cString: strerror(errno)))")
        }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try file.write(contentsOf: Data((text + "\n").utf8))
        try file.synchronize()
        try file.close()
        return true
    }

    /// Puts a text in the place of a file's, whole and at once, unless it has that text already.
    ///
    /// - Returns: whether it was written.
    static func replace(_ path: String, _ text: String, mode: mode_t) throws -> Bool {
        if FileManager.default.contents(atPath: path) == Data((text + "\n").utf8) { return false }
        let new = path + ".new"
        if exists(new) { try FileManager.default.removeItem(atPath: new) }
        guard try create(new, text), chmod(new, mode) == 0, rename(new, path) == 0 else {
            throw CommandFailure(.configuration, "\(path) cannot be written: \(String(cString: strerror(errno)))")
        }
        return true
    }

    /// Makes a folder, mode 0700, and those above it that are missing.
    static func makeFolder(_ path: String) throws {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw CommandFailure(.configuration, "The folder \(path) cannot be made: \(error.localizedDescription)")
        }
    }

    static func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    /// The permission bits of a file; `nil` when there is none.
    static func mode(_ path: String) -> Int? {
        (try? FileManager.default.attributesOfItem(atPath: path))?[.posixPermissions] as? Int
    }
}

extension String {
    /// Without one line end at the end.
    var droppingLineEnd: String {
        var bytes = utf8[...]
        guard bytes.last == UInt8(ascii: "\n") else { return self }
        bytes.removeLast()
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        return String(Substring(bytes))
    }
}

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

/// Where a password comes from: a file, or standard input; never a flag's value.
struct PasswordOptions: ParsableArguments {
    @Option(help: ArgumentHelp("A file with the password (else standard input).", valueName: "file"))
    var passwordFile: String?

    func password(of user: String) throws -> String {
        if let passwordFile { return try SecretFile.read(passwordFile) }
        return try StandardInput.readPassword(prompt: "Password of \(user.printable): ")
    }
}
