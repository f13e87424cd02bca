import GRDB
import Logging
import SecurePushCore
import ServiceLifecycle

/// The embedded store: one SQLite file that the services of one machine share.
///
/// SQLite has one writer at a time, so that all changes of a process, whatever their kind, wait in one line and each
/// group of them is one short transaction: one flush of the disk. Readings are grouped for the sake of the thread hops
/// that they save.
final class SQLiteStore: Sendable {
    let database: SQLiteDatabase
    let writes: GroupCommit<SQLiteWrite, SQLiteWrite.Output>
    let finds: GroupCommit<SQLiteFind, StoredNotification?>
    private let logger: Logger

    /// The most changes of one transaction: a few milliseconds, for other processes wait meanwhile.
    private static var writeLimit: Int { 256 }

    init(_ database: SQLiteDatabase, logger: Logger) {
        self.database = database
        self.logger = logger
        writes = GroupCommit(limit: SQLiteStore.writeLimit, weight: \.weight, bytes: \.heldBytes) { group in
            try await database.write { db in try group.map { try $0.execute(db) } }
        }
        finds = GroupCommit(limit: SQLiteStore.writeLimit) { group in
            try await database.read { db in try group.map { try $0.execute(db) } }
        }
    }

    /// Hands changes to the writer. Before ``run()`` this throws at once, so that no caller hangs.
    func submit(_ changes: [SQLiteWrite]) async throws -> [SQLiteWrite.Output] {
        try checkRunning()
        return try await writes.submit(changes)
    }

    func checkRunning() throws {
        guard writes.isRunning, finds.isRunning else {
            throw StorageError(.unavailable, "The store is starting or stopping.")
        }
    }
}

extension SQLiteStore: Service {
    func run() async throws {
        await withTaskGroup { group in
            group.addTask { await self.writes.run() }
            group.addTask { await self.finds.run() }
        }
        await database.close(logger: logger)
    }
}

extension SQLiteStore: Store {
    func ping(timeout: Duration) async throws {
        try checkRunning()
        try await withDeadline(timeout) { completion in
            // Taking the writer's lock is what shows that the file can be written to.
            database.write({ _ in }, completion: completion)
        }
    }
}

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
