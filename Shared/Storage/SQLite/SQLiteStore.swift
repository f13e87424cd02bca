import Domain
import GRDB
import Logging
import ServiceLifecycle

/// The embedded store: one SQLite file that the services of one machine share.
///
/// SQLite has one writer at a time, so all changes of a process wait in one queue, and each group of them is one short
/// transaction with one disk flush. Reads are grouped to save thread hops.
///
/// Decision: docs/decisions/0023-one-text-of-sql.md
final class SQLiteStore: Sendable {
    let database: SQLiteDatabase
    let writes: GroupCommit<SQLiteWork, Void>
    let finds: GroupCommit<SQLiteFind, StoredNotification?>
    let withdrawals: WithdrawalMode
    private let logger: Logger

    /// The maximum number of changes in one transaction: a few milliseconds, because other processes wait meanwhile.
    private static var maxGroup: Int { 256 }

    /// - Parameter withdrawals: see ``StorageConfiguration/withdrawals``.
    init(_ database: SQLiteDatabase, withdrawals: WithdrawalMode = .revoked, logger: Logger) {
        self.database = database
        self.withdrawals = withdrawals
        self.logger = logger
        writes = GroupCommit(limit: SQLiteStore.maxGroup, weight: \.weight, bytes: \.bytes) { group, completion in
            database.write { db in
                for work in group { try work.run(SQLiteTransaction(db)) }
            } completion: { result in
                database.note(result, of: group, kind: \.kind) { work in
                    database.tryOutWrite { db in try work.trial(SQLiteTransaction(db)) }
                }
                completion(result.map { [Void](repeating: (), count: group.count) }.mapError(\.error))
            }
        }
        finds = GroupCommit(limit: SQLiteStore.maxGroup) { group, completion in
            database.read { db in
                try group.map { try $0.execute(SQLiteTransaction(db)) }
            } completion: { result in
                database.note(result, of: group, kind: { _ in "find" }) { find in
                    database.tryOutRead { db in _ = try find.execute(SQLiteTransaction(db)) }
                }
                completion(result.mapError(\.error))
            }
        }
    }

    /// Serves requests from now on, without ``run()``. For a database in memory: there is nothing to close.
    func start() {
        writes.start()
        finds.start()
    }

    func checkRunning() throws {
        if let notRunning { throw notRunning }
    }

    /// The error before ``run()`` and after it.
    var notRunning: StorageError? {
        if writes.isRunning && finds.isRunning { return nil }
        return StorageError(.unavailable, "The store is starting or stopping.")
    }
}

extension SQLiteStore: Service {
    func run() async throws {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.watchFile() }
            await withDiscardingTaskGroup { group in
                group.addTask { await self.writes.run() }
                group.addTask { await self.finds.run() }
            }
            group.cancelAll()
        }
        await database.close(logger: logger)
    }
}

extension SQLiteStore {
    /// Tells an operator once a second whether the file is where it was, until the task is cancelled.
    private func watchFile() async {
        var missing: String?
        while (try? await Task.sleep(for: .seconds(1))) != nil {
            let now = database.watch.missing
            defer { missing = now }
            if let now, missing == nil {
                logger.error(
                    "The database file was moved, removed, replaced or emptied, so nothing is stored until it is back",
                    metadata: ["path": "\(now)"])
            } else if now == nil, let missing {
                logger.notice("The database file is back", metadata: ["path": "\(missing)"])
            }
        }
    }
}

extension SQLiteStore: Store {
    func ping(timeout: Duration) async throws {
        try checkRunning()
        try await withDeadline(timeout) { completion in
            // Taking the writer's lock shows that the file can be written to.
            database.write({ _ in }) { completion($0.mapError(\.error)) }
        }
    }
}

extension StorageError {
    /// The error for SQLite's result code (sqlite.org/rescode.html). SQLite's message contains names of tables and
    /// columns but no bound values; the statement is left out.
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
            self.init(.unavailable, "Other processes kept the database locked for too long.")
        case .SQLITE_FULL:
            self.init(.unavailable, "The disk of the database is full. Free some space.")
        case .SQLITE_IOERR:
            // A failed flush may still have reached the disk.
            self.init(.connectionLost, "The disk of the database failed (\(error.extendedResultCode.rawValue)).")
        case .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_AUTH:
            self.init(.unavailable, "The database file cannot be opened or written to. Check its permissions.")
        case .SQLITE_MISUSE:
            self.init(.unavailable, "The store is closed.")
        case .SQLITE_NOMEM:
            self.init(.unavailable, "SQLite is out of memory.")
        case .SQLITE_NOTADB, .SQLITE_CORRUPT:
            self.init(.failed, "The database file is damaged, or is not an SQLite database. Restore it from a backup.")
        default:
            let number = error.extendedResultCode.rawValue
            self.init(.failed, "SQLite failed (\(number)): \(error.message ?? "no reason given").")
        }
    }
}
