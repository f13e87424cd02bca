import Foundation

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Lets the processes that write to one database file take turns.
///
/// SQLite's lock is not fair: who waits for it looks about once a millisecond, and a process that writes without a pause
/// leaves it free for less. It kept others out for 5 s, which is as long as they wait. So who waits has a shared lock of
/// the folder (flock(2)), and who has written pauses while somebody has that lock.
///
/// The file itself is not opened for this: closing it would release the locks that SQLite holds in this process.
final class SQLiteTurns: Sendable {
    /// Descriptors of the folder. There are two, because a process must not wait for itself. They are -1 where it cannot
    /// be opened; then nobody takes turns.
    private let waiting: Int32
    private let asking: Int32
    private let longestPause: Duration

    /// - Parameters:
    ///   - path: of a database that is open.
    ///   - longestPause: bounds ``giveWay()``, because a process that waits may be stopped.
    init(path: String, longestPause: Duration = .milliseconds(50)) {
        // As SQLite finds its side files, if the path is a symbolic link.
        let resolved = realpath(path, nil)
        defer { free(resolved) }
        let folder = URL(filePath: resolved.map { String(cString: $0) } ?? path).deletingLastPathComponent().path
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
        (waiting, asking) = (open(folder, flags), open(folder, flags))
        self.longestPause = longestPause
    }

    deinit { for descriptor in [waiting, asking] where descriptor >= 0 { close(descriptor) } }

    /// A transaction is about to wait for SQLite's lock.
    func begin() {
        // Another process asks for an instant at a time.
        var tries = 10
        while flock(waiting, LOCK_SH | LOCK_NB) != 0, errno == EWOULDBLOCK, tries > 0 {
            tries -= 1
            sched_yield()
        }
    }

    /// It waits no more. May be called again.
    func begun() { _ = flock(waiting, LOCK_UN) }

    /// Blocks its thread until nobody waits, after a transaction.
    func giveWay() {
        let end = ContinuousClock.now + longestPause
        while flock(asking, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK, .now < end else { return }
            Thread.sleep(forTimeInterval: 0.001)
        }
        _ = flock(asking, LOCK_UN)
    }
}
