import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The descriptors 0, 1 and 2 of the process.
package enum StandardDescriptors {
    private static let missing = Mutex<Set<Int32>>([])

    /// Whether standard output was closed at the start: bytes that are written to it are lost without an error.
    package static var lacksOutput: Bool { missing.withLock { $0.contains(STDOUT_FILENO) } }
    /// Whether standard error was closed at the start.
    package static var lacksError: Bool { missing.withLock { $0.contains(STDERR_FILENO) } }

    /// Opens `/dev/null` for each of them that is closed. Without it the next file that is opened, such as the audit
    /// log or the database, would get the number, and log lines would be written into it.
    ///
    /// Call it first, before anything else opens a file.
    ///
    /// - Returns: those that were closed.
    @discardableResult
    package static func openMissing() -> Set<Int32> {
        var closed: Set<Int32> = []
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
            guard fcntl(descriptor, F_GETFD) < 0, errno == EBADF else { continue }
            closed.insert(descriptor)
            // The lowest number that is free is this one. A folder can be neither read nor written, which will do where
            // there is no /dev.
            if open("/dev/null", O_RDWR) < 0 { _ = open("/", O_RDONLY) }
        }
        missing.withLock { $0 = closed }
        return closed
    }
}
