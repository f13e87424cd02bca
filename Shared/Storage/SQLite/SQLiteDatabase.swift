import Dispatch
import Domain
import Foundation
import Foundations
import GRDB
import Logging
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// An open SQLite file, or a database in memory, with the schema of this program.
///
/// Database work is never cancelled: each piece is short, runs on GRDB's queues, and completes even if the caller's
/// task is cancelled.
struct SQLiteDatabase: Sendable {
    private let connections: any DatabaseWriter
    /// Whether it is in the memory of this process. Reads run at once on the caller's thread then.
    let isInMemory: Bool
    /// Tells whether the file is still where it was opened.
    let watch: SQLiteFileWatch
    /// `nil` in memory, where nobody else writes.
    private let turns: SQLiteTurns?
    let failedWork = FailedWork()
    /// The migration on opening.
    let report: MigrationReport

    /// How long a statement waits for the locks of other processes.
    @TaskLocal private static var busyTimeout = Duration.seconds(5)
    /// The same for the statements of an opening. No request waits for it, and the disk may be slow while several
    /// processes start at once.
    private static let openingTimeout = Duration.seconds(30)

    /// - Throws: ``StorageError``; see ``openStore(_:logger:)``.
    static func open(
        path: String, _ schema: StorageSchema = .services, migrations: MigrationPolicy
    ) async throws -> SQLiteDatabase {
        try await offPool { try SQLiteDatabase(path: path, schema, migrations: migrations) }
    }

    private init(path: String, _ schema: StorageSchema, migrations: MigrationPolicy) throws {
        do {
            if migrations == .check, !FileManager.default.fileExists(atPath: path) { throw SchemaVersion.missing }
            try SQLiteFile.prepare(path: path)
            (connections, report) = try SQLiteDatabase.$busyTimeout.withValue(SQLiteDatabase.openingTimeout) {
                let pool = try SQLiteDatabase.connectWhenUnlocked(path)
                return (pool, try SQLiteMigration.run(pool, schema, policy: migrations))
            }
            watch = SQLiteFileWatch(path: path)
            turns = SQLiteTurns(path: path)
            isInMemory = false
        } catch let error as DatabaseError where [.SQLITE_NOTADB, .SQLITE_CORRUPT].contains(error.resultCode) {
            throw StorageError(.invalid, "\(path) is not an SQLite database, or is damaged. Name another file.")
        } catch let error as DatabaseError where [.SQLITE_READONLY, .SQLITE_CANTOPEN].contains(error.resultCode) {
            throw StorageError(
                .invalid, "\(path) cannot be opened for writing. Check the permissions of the file and its folder.")
        } catch {
            throw StorageError(error)
        }
    }

    /// A database in the memory of this process: one connection, because each would have a database of its own.
    ///
    /// - Parameter maxPages: when this many pages of 4 KiB are full, writing fails as on a full disk.
    init(_ schema: StorageSchema = .services, maxPages: Int? = nil) throws {
        do {
            let queue = try DatabaseQueue(configuration: SQLiteDatabase.configuration)
            if let maxPages { try queue.write { db in try db.execute(sql: "PRAGMA max_page_count = \(maxPages)") } }
            connections = queue
            report = try SQLiteMigration.run(connections, schema, policy: .automatic)
            watch = .nothing
            turns = nil
            isInMemory = true
        } catch {
            throw StorageError(error)
        }
    }

    /// Connects, and tries again while other processes keep the file locked.
    ///
    /// A new file is switched to the write-ahead log. SQLite does not call the busy handler for that, so of several
    /// processes that start at once, some are refused at once.
    private static func connectWhenUnlocked(_ path: String) throws -> DatabasePool {
        let end = ContinuousClock.now + busyTimeout
        while true {
            do {
                return try connect(path)
            } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY && .now < end {
                Thread.sleep(forTimeInterval: 0.01)
            }
        }
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.maximumReaderCount = 4
        configuration.busyMode = .callback { tries in
            // SQLite's own handler waits up to 100 ms; commits of other processes take one or two.
            Thread.sleep(forTimeInterval: 0.001)
            return tries < busyTimeout.milliseconds
        }
        configuration.prepareDatabase { db in
            // Overwrites freed content with zeros: a revoked or expired payload must not remain in the file.
            try db.execute(sql: "PRAGMA secure_delete = ON")
            // Truncates the write-ahead log, which holds old pages, at each checkpoint that empties it.
            try db.execute(sql: "PRAGMA journal_size_limit = 0")
            db.add(function: SQLiteTransaction.fromHex)
        }
        return configuration
    }

    private static func connect(_ path: String) throws -> DatabasePool {
        let pool = try DatabasePool(path: path, configuration: configuration)
        // After opening, because GRDB sets NORMAL there, with which a power cut may lose acknowledged commits.
        try pool.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA synchronous = FULL") }
        return pool
    }

    /// Runs a short piece of work in one IMMEDIATE transaction.
    ///
    /// - Parameter completion: is called on GRDB's queue.
    func write<Value: Sendable>(
        _ work: @escaping @Sendable (Database) throws -> Value,
        completion: @escaping @Sendable (Result<Value, SQLiteFailure>) -> Void
    ) {
        connections.asyncWriteWithoutTransaction { [watch, turns] db in
            let result = Result {
                try watch.check()
                var value: Value?
                turns?.begin()
                defer { turns?.begun() }
                try db.forgettingDamage {
                    try db.inTransaction(.immediate) {
                        turns?.begun()
                        value = try work(db)
                        return .commit
                    }
                }
                guard let value else { throw StorageError(.failed, "A transaction did not run.") }
                // Data in a file that no longer has a path is not stored.
                if watch.missing != nil {
                    throw StorageError(.connectionLost, "The database file was moved or removed.")
                }
                return value
            }
            completion(result.mapError { SQLiteFailure($0) })
            turns?.giveWay()
        }
    }

    /// Reads from one snapshot of the database.
    ///
    /// - Parameter kind: names the kind of work (see ``FailedWork``); by default the function that calls.
    func read<Value: Sendable>(
        kind: String = #function, _ work: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        if isInMemory { return try noted(readAtOnce(work), kind, work).get() }
        return try await withCheckedThrowingContinuation { caller in
            read(work) { caller.resume(with: noted($0, kind, work)) }
        }
    }

    private func noted<Value>(
        _ result: Result<Value, SQLiteFailure>, _ kind: String, _ work: @escaping @Sendable (Database) throws -> Value
    ) -> Result<Value, StorageError> {
        note(result, of: CollectionOfOne(kind), kind: \.self) { _ in tryOutRead { _ = try work($0) } }
        return result.mapError(\.error)
    }

    /// Reads from a database in memory, on this thread. Its one connection serves one thread at a time, so nothing
    /// changes meanwhile.
    ///
    /// GRDB's `asyncRead` of one connection runs `PRAGMA query_only` twice. Each time SQLite forgets how it has
    /// compiled the statements, and has to compile them again.
    private func readAtOnce<Value>(_ work: (Database) throws -> Value) -> Result<Value, SQLiteFailure> {
        // Reentrant: a callback of a commit may read, and is on the connection's queue.
        Result { try connections.unsafeReentrantRead(work) }.mapError { SQLiteFailure($0) }
    }

    /// Reads for a callback, which runs on GRDB's queue; of a database in memory, before this returns.
    func read<Value: Sendable>(
        _ work: @escaping @Sendable (Database) throws -> Value,
        completion: @escaping @Sendable (Result<Value, SQLiteFailure>) -> Void
    ) {
        if isInMemory { return completion(readAtOnce(work)) }
        connections.asyncRead { [watch] database in
            let result = Result {
                try watch.check()
                let db = try database.get()
                return try db.forgettingDamage { try work(db) }
            }
            completion(result.mapError { SQLiteFailure($0) })
        }
    }

    /// Writes the log back into the file and truncates it, unless others are reading or writing; then the next call
    /// does it, or the checkpoint that SQLite itself runs every 1000 pages.
    ///
    /// The log holds old pages, so it still contains content that was destroyed in the file.
    func clearLog() async {
        await withCheckedContinuation { caller in
            connections.asyncWriteWithoutTransaction { db in
                // While it waits for readers, other processes cannot write, so it waits only briefly.
                SQLiteDatabase.$busyTimeout.withValue(.milliseconds(20)) {
                    _ = try? db.checkpoint(.truncate)
                }
                caller.resume()
            }
        }
    }

    /// Waits for work in flight, writes the log back into the file, and closes the database.
    func close(logger: Logger) async {
        do {
            try await offPool { [connections] in
                // Explicitly, because GRDB closes a reader last, which cannot write the log back. This fails while
                // other processes read; then the last of them does it, or the next one to open the file.
                try? connections.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
                try connections.close()
            }
        } catch {
            logger.warning("Cannot close the database", metadata: ["error": "\(StorageError(error))"])
        }
    }
}

/// Runs blocking work on a thread outside Swift's cooperative pool.
private func offPool<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { caller in
        DispatchQueue(label: "securepush.sqlite").async { caller.resume(with: Result { try work() }) }
    }
}

/// The file of a database and its folder.
enum SQLiteFile {
    /// Creates missing folders with mode 0700 and the file with 0600; SQLite gives its two side files the mode of the
    /// file. Existing folders and files keep their modes, which are the operator's decision.
    static func prepare(path: String) throws(StorageError) {
        try makeFolders(of: path)
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("Cannot write to the database file \(path)", errno) }
        close(descriptor)
    }

    private static func makeFolders(of path: String) throws(StorageError) {
        var folder = path.hasPrefix("/") ? "" : "."
        for name in path.split(separator: "/").dropLast() {
            folder += "/" + name
            if mkdir(folder, 0o700) != 0, errno != EEXIST, !isFolder(folder) {
                throw failure("Cannot create the folder \(folder) for the database", errno)
            }
        }
    }

    /// `mkdir` of an existing folder can fail with other errors than `EEXIST`, for example on a read-only disk.
    private static func isFolder(_ path: String) -> Bool {
        let number = errno
        defer { errno = number }
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private static func failure(_ what: String, _ number: Int32) -> StorageError {
        StorageError(
            .invalid,
            "\(what): \(String(cString: strerror(number))). Name another path, or grant access to it."
        )
    }
}

/// Starts work with a completion, and waits until it completes or the time is out; a later result is dropped.
///
/// - Throws: the error of the work, or ``StorageError`` with code `timeout`.
func withDeadline(
    _ timeout: Duration, start: (@escaping @Sendable (Result<Void, StorageError>) -> Void) -> Void
) async throws {
    try await withCheckedThrowingContinuation { caller in
        let first = FirstResult(caller)
        let time = DispatchTime.now() + .milliseconds(Int(clamping: timeout.milliseconds))
        DispatchQueue.global().asyncAfter(deadline: time) {
            first.resume(with: .failure(StorageError(.timeout, "The database did not answer in time.")))
        }
        start { first.resume(with: $0) }
    }
}

/// Resumes a caller with the first of two results.
private final class FirstResult: Sendable {
    private let caller: Mutex<CheckedContinuation<Void, any Error>?>

    init(_ caller: CheckedContinuation<Void, any Error>) { self.caller = Mutex(caller) }

    func resume(with result: Result<Void, StorageError>) {
        caller.withLock { $0.take() }?.resume(with: result)
    }
}
