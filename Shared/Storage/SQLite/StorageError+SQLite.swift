import GRDB
import SecurePushCore

extension StorageError {
    /// What SQLite's result code means to a caller (sqlite.org/rescode.html). SQLite's own text names tables and
    /// columns; bound values are not in it, and statements are left out.
    init(_ error: any Error) {
        switch error {
        case let error as StorageError: self = error
        case let error as DatabaseError: self.init(error)
        case is CancellationError: self.init(.connectionLost, "The store was stopped.")
        default: self.init(.failed, "The database failed (\(type(of: error))).")
        }
    }

    private init(_ error: DatabaseError) {
        switch error.resultCode {
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            self.init(.unavailable, "Other processes kept the database locked for more than five seconds.")
        case .SQLITE_FULL:
            self.init(.unavailable, "The disk of the database is full. Make room.")
        case .SQLITE_IOERR:
            // A flush that failed may have reached the disk.
            self.init(.connectionLost, "The disk of the database failed (\(error.extendedResultCode.rawValue)).")
        case .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_AUTH:
            self.init(.unavailable, "The database file cannot be opened or written to. See to its rights.")
        case .SQLITE_MISUSE:
            self.init(.unavailable, "The store is closed.")
        case .SQLITE_NOMEM:
            self.init(.unavailable, "SQLite had no memory.")
        case .SQLITE_NOTADB, .SQLITE_CORRUPT:
            self.init(.failed, "The database file is damaged, or none. Restore it from a backup.")
        default:
            let number = error.extendedResultCode.rawValue
            self.init(.failed, "SQLite refused (\(number)): \(error.message ?? "no reason").")
        }
    }
}
