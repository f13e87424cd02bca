import SecurePushCore

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Tells whether the path of an open database still names the file that is open.
///
/// A file that was moved, removed or replaced stays open, and what is written to it is gone at the next start. So
/// nothing is written then, until the file is back or the service has restarted. The two side files belong to it: the
/// write-ahead log holds the newest commits.
///
/// It never opens the files: closing them would release the locks that SQLite holds in this process.
struct SQLiteFileWatch: Sendable {
    private struct Identity: Sendable, Equatable {
        let device: UInt64
        let inode: UInt64

        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            device = UInt64(truncatingIfNeeded: status.st_dev)
            inode = UInt64(truncatingIfNeeded: status.st_ino)
        }
    }

    private let files: [(path: String, identity: Identity)]

    /// - Parameter path: of a database that is open.
    init(path: String) {
        // SQLite has its side files next to the file itself, if the path is a symbolic link.
        let resolved = realpath(path, nil)
        defer { free(resolved) }
        let real = resolved.map { String(cString: $0) } ?? path
        files = [path, real + "-wal", real + "-shm"].compactMap { path in
            Identity(path).map { (path, $0) }
        }
    }

    /// The path that names another file, or none.
    var missing: String? {
        files.first { Identity($0.path) != $0.identity }?.path
    }

    /// - Throws: ``StorageError`` with code `unavailable`.
    func check() throws(StorageError) {
        if missing != nil { throw StorageError(.unavailable, "The database file is not where it was.") }
    }
}
