import Dispatch
import Foundation
import GRDB
import Logging
import SecurePushCore
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// An open SQLite file with the schema of this program.
///
/// Work on it is never cancelled half-way: each piece is short, runs on GRDB's queues, and is waited for to its end
/// whatever becomes of the caller's task.
struct SQLiteDatabase: Sendable {
    private let pool: DatabasePool
    /// What opening had to migrate.
    let report: MigrationReport

    /// How long a statement waits for other processes.
    @TaskLocal private static var patience = Duration.seconds(5)

    /// - Throws: ``StorageError``; see ``openStore(_:logger:)``.
    static func open(path: String, migrations: MigrationPolicy) async throws -> SQLiteDatabase {
        try await offPool { try SQLiteDatabase(path: path, migrations: migrations) }
    }

    private init(path: String, migrations: MigrationPolicy) throws {
        do {
            if migrations == .check, !FileManager.default.fileExists(atPath: path) { throw SQLiteMigration.needed }
            try SQLiteFile.prepare(path: path)
            pool = try SQLiteDatabase.connect(path)
            report = try SQLiteMigration.run(pool, policy: migrations)
        } catch let error as DatabaseError where [.SQLITE_NOTADB, .SQLITE_CORRUPT].contains(error.resultCode) {
            throw StorageError(.invalid, "\(path) is no SQLite database, or is damaged. Name another file.")
        } catch let error as DatabaseError where [.SQLITE_READONLY, .SQLITE_CANTOPEN].contains(error.resultCode) {
            throw StorageError(
                .invalid, "\(path) cannot be opened for writing. SQLite writes to its folder too; see to the rights.")
        } catch {
            throw StorageError(error)
        }
    }

    private static func connect(_ path: String) throws -> DatabasePool {
        var configuration = Configuration()
        configuration.maximumReaderCount = 4
        configuration.busyMode = .callback { tries in
            // SQLite's own handler backs off to 100 ms; commits of other processes last one or two.
            Thread.sleep(forTimeInterval: 0.001)
            return tries < patience.milliseconds
        }
        configuration.prepareDatabase { db in
            // Freed content is overwritten with zeros: a payload that is revoked or expires must be gone from the file.
            try db.execute(sql: "PRAGMA secure_delete = ON")
            // The write-ahead log, which holds pages as they were, is cut back at each checkpoint that empties it.
            try db.execute(sql: "PRAGMA journal_size_limit = 0")
        }
        let pool = try DatabasePool(path: path, configuration: configuration)
        // After opening, for GRDB sets NORMAL there, with which a power cut may take back what was answered as durable.
        try pool.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA synchronous = FULL") }
        return pool
    }

    /// Runs a short piece of work in one IMMEDIATE transaction, all of it or nothing.
    func write<Value: Sendable>(_ work: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { caller in
            write(work) { caller.resume(with: $0) }
        }
    }

    /// The same with a callback, on GRDB's queue.
    func write<Value: Sendable>(
        _ work: @escaping @Sendable (Database) throws -> Value,
        completion: @escaping @Sendable (Result<Value, StorageError>) -> Void
    ) {
        pool.asyncWriteWithoutTransaction { db in
            let result = Result {
                var value: Value?
                try db.inTransaction(.immediate) {
                    value = try work(db)
                    return .commit
                }
                guard let value else { throw StorageError(.failed, "A transaction did not run.") }
                return value
            }
            completion(result.mapError { StorageError($0) })
        }
    }

    /// Reads one state of the database.
    func read<Value: Sendable>(_ work: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { caller in
            pool.asyncRead { database in
                caller.resume(with: Result { try work(database.get()) }.mapError { StorageError($0) })
            }
        }
    }

    /// Writes the log back into the file and cuts it to nothing, unless others read or write at the moment; then the
    /// next call does it, or the checkpoint that SQLite itself makes every 1000 pages.
    ///
    /// The log holds pages as they were, so that what was destroyed in the file is in the log until then.
    func clearLog() async {
        await withCheckedContinuation { caller in
            pool.asyncWriteWithoutTransaction { db in
                // It keeps other processes from writing while it waits for their readers, so it waits only shortly.
                SQLiteDatabase.$patience.withValue(.milliseconds(20)) {
                    _ = try? db.checkpoint(.truncate)
                }
                caller.resume()
            }
        }
    }

    /// Waits for what is under way, writes the log back into the file, and closes.
    func close(logger: Logger) async {
        do {
            try await offPool { [pool] in
                // By hand, for GRDB closes a reader last, and a reader cannot. It may fail while other processes read;
                // the last of them does it, or the next to open the file.
                try? pool.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
                try pool.close()
            }
        } catch {
            logger.warning("The database did not close.", metadata: ["error": "\(StorageError(error))"])
        }
    }
}

/// Runs blocking work on a thread that is not of Swift's cooperative pool.
private func offPool<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { caller in
        DispatchQueue(label: "securepush.sqlite").async { caller.resume(with: Result { try work() }) }
    }
}

/// The file of a database, and its folder.
enum SQLiteFile {
    /// Makes the folders that are missing with mode 0700 and the file with 0600; SQLite gives its two side files the
    /// mode of the file. What is there already is left as it is, for its rights are the operator's.
    static func prepare(path: String) throws(StorageError) {
        try makeFolders(of: path)
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("The database file \(path) cannot be written to", errno) }
        close(descriptor)
    }

    private static func makeFolders(of path: String) throws(StorageError) {
        var folder = path.hasPrefix("/") ? "" : "."
        for name in path.split(separator: "/").dropLast() {
            folder += "/" + name
            if mkdir(folder, 0o700) != 0, errno != EEXIST, !isFolder(folder) {
                throw failure("The folder \(folder) for the database cannot be made", errno)
            }
        }
    }

    /// Making a folder that is there fails with other errors than `EEXIST` too, on a read-only disk for one.
    private static func isFolder(_ path: String) -> Bool {
        let number = errno
        defer { errno = number }
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private static func failure(_ what: String, _ number: Int32) -> StorageError {
        StorageError(
            .invalid,
            "\(what): \(String(cString: strerror(number))). Name another path, or give this process's user the right.")
    }
}

/// Starts work that calls back, and waits for its answer or until the time is out; a later answer is dropped.
///
/// - Throws: the answer's error, or ``StorageError`` with code `timeout`.
func withDeadline(
    _ timeout: Duration, start: (@escaping @Sendable (Result<Void, StorageError>) -> Void) -> Void
) async throws {
    try await withCheckedThrowingContinuation { caller in
        let answer = FirstAnswer(caller)
        let time = DispatchTime.now() + .milliseconds(Int(clamping: timeout.milliseconds))
        DispatchQueue.global().asyncAfter(deadline: time) {
            answer.give(.failure(StorageError(.timeout, "The database did not answer in time.")))
        }
        start { answer.give($0) }
    }
}

/// Lets the first of two answers through.
private final class FirstAnswer: Sendable {
    private let caller: Mutex<CheckedContinuation<Void, any Error>?>

    init(_ caller: CheckedContinuation<Void, any Error>) { self.caller = Mutex(caller) }

    func give(_ answer: Result<Void, StorageError>) {
        caller.withLock { $0.take() }?.resume(with: answer)
    }
}
