#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Standard output or standard error, for a program that waits for its reader. Services write their logs with a
/// ``LogWriter``.
struct StandardStream: Sendable {
    let descriptor: Int32

    static let output = StandardStream(descriptor: STDOUT_FILENO)
    static let error = StandardStream(descriptor: STDERR_FILENO)

    var isTerminal: Bool { isatty(descriptor) == 1 }

    /// Writes all of the text. A reader that has closed the pipe wants no more, which is no failure.
    ///
    /// - Returns: whether it was written.
    func write(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        var rest = bytes[...]
        while !rest.isEmpty {
            switch Self.write(rest, to: descriptor) {
            case .wrote(let count): rest = rest.dropFirst(count)
            case .full: Self.waitUntilWritable(descriptor)
            case .failed(let number): return number == EPIPE
            }
        }
        return true
    }

    /// The result of one `write(2)`.
    enum Written {
        case wrote(Int)
        /// A descriptor that does not block takes nothing now.
        case full
        /// The value of `errno`.
        case failed(Int32)
    }

    static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> Written {
        while true {
            let count = bytes.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
            if count > 0 { return .wrote(count) }
            switch errno {
            case EINTR: continue
            case EAGAIN, EWOULDBLOCK: return .full
            case let number: return .failed(number)
            }
        }
    }

    /// Waits until a descriptor takes bytes or fails, at most a second.
    static func waitUntilWritable(_ descriptor: Int32) {
        var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        // A descriptor that cannot be waited for must not make the caller spin.
        if poll(&wait, 1, 1000) != 0 { usleep(1000) }
    }
}

private func systemWrite(_ descriptor: Int32, _ base: UnsafeRawPointer?, _ count: Int) -> Int {
    guard let base else { return 0 }
    return write(descriptor, base, count)
}
