import Domain

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Tells whether the path of an open database still names the file that is open.
///
/// A file that was moved, removed or replaced stays open, and data that is written to it is lost at the next start. So
/// nothing is written then, until the file is back or the service has restarted. The two side files belong to it: the
/// write-ahead log holds the newest commits. A file that was emptied is as good as removed.
///
/// It never opens the files: closing them would release the locks that SQLite holds in this process.
struct SQLiteFileWatch: Sendable {
    private struct Identity: Sendable {
        let device: UInt64
        let inode: UInt64
        let isEmpty: Bool

        /// - Parameter mayBeEmpty: leaves the size out, as that of a side file changes.
        init?(_ path: String, mayBeEmpty: Bool) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            isEmpty = !mayBeEmpty && status.st_size == 0
            device = UInt64(truncatingIfNeeded: status.st_dev)
            inode = UInt64(truncatingIfNeeded: status.st_ino)
        }

        /// Whether a file that was this one still is.
        func isStill(_ now: Identity?) -> Bool {
            guard let now else { return false }
            return device == now.device && inode == now.inode && (isEmpty || !now.isEmpty)
        }
    }

    private let files: [(path: String, isSide: Bool, identity: Identity)]

    /// - Parameter path: of a database that is open.
    init(path: String) {
        // SQLite has its side files next to the file itself, if the path is a symbolic link.
        let resolved = realpath(path, nil)
        defer { free(resolved) }
        let real = resolved.map { String(cString: $0) } ?? path
        let all = [(path, false), (real + "-wal", true), (real + "-shm", true)]
        files = all.compactMap { path, isSide in
            Identity(path, mayBeEmpty: isSide).map { (path, isSide, $0) }
        }
    }

    /// Of a database in memory, which has no file.
    private init() { files = [] }
    static let nothing = SQLiteFileWatch()

    /// The path that names another file, an emptied one, or none.
    var missing: String? {
        files.first { !$0.identity.isStill(Identity($0.path, mayBeEmpty: $0.isSide)) }?.path
    }

    /// - Throws: ``StorageError`` with code `unavailable`.
    func check() throws(StorageError) {
        if missing != nil { throw StorageError(.unavailable, "The database file is not where it was.") }
    }
}
