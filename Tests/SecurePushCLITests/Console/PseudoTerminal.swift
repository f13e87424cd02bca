import Foundation
import Synchronization

/// A terminal that programs may be run on, and whose keyboard and screen belong to a test (pty(7)).
final class PseudoTerminal: Sendable {
    /// The end for the program's standard input, output and error.
    let program: FileHandle
    private let user: Int32
    private let bytes = Mutex<[UInt8]>([])

    init(columns: Int = 80) throws {
        var (user, program): (Int32, Int32) = (-1, -1)
        var size = winsize()
        (size.ws_row, size.ws_col) = (40, UInt16(columns))
        guard openpty(&user, &program, nil, nil, &size) == 0 else { throw POSIXError(.ENODEV) }
        self.user = user
        self.program = FileHandle(fileDescriptor: program, closeOnDealloc: true)
        _ = fcntl(user, F_SETFL, O_NONBLOCK)
    }

    deinit { close(user) }

    /// Everything that the terminal has shown so far: both outputs, and what was typed unless the program switched the
    /// echo off.
    var output: String {
        bytes.withLock { bytes in
            var buffer = [UInt8](repeating: 0, count: 4096)
            while case let count = read(user, &buffer, buffer.count), count > 0 { bytes += buffer[..<count] }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    func type(_ text: String) {
        let keys = Array(text.utf8)
        _ = write(user, keys, keys.count)
    }

    /// Whether it echoes and collects lines.
    var isOrdinary: Bool {
        var settings = termios()
        guard tcgetattr(program.fileDescriptor, &settings) == 0 else { return false }
        return settings.c_lflag & tcflag_t(ICANON | ECHO) == tcflag_t(ICANON | ECHO)
    }
}
