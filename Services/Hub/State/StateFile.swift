import Foundation
import Foundations
import GRDB
import Logging
import ServiceLifecycle
import Synchronization

/// The SQLite file behind `EMULATOR_STATE`: one table of small documents.
final class StateFile: Sendable {
    /// Why a file cannot be used.
    struct Refusal: Error, CustomStringConvertible {
        let description: String
    }

    /// "HubE": marks our files, so that the emulator never writes to another database.
    private static let applicationID = 0x4875_6245
    private static let version = 1
    /// Only the owner may read registrations and notifications.
    private static let mode: mode_t = 0o600

    private let queue: DatabaseQueue
    private let logger: Logger

    /// - Throws: ``Refusal``.
    init(path: String, logger: Logger) throws {
        self.logger = logger
        do {
            let folder = URL(filePath: path).deletingLastPathComponent()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            // Created here because SQLite would use the umask. Its other files get the mode of this one.
            let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, Self.mode)
            if descriptor >= 0 { _ = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true) }
            var configuration = Configuration()
            configuration.journalMode = .wal
            queue = try DatabaseQueue(path: path, configuration: configuration)
            try queue.write { try Self.prepare($0) }
            // For a file of an earlier version, which used the umask.
            for file in [path, path + "-wal", path + "-shm"] { _ = chmod(file, Self.mode) }
        } catch let error as Refusal {
            throw error
        } catch {
            throw Refusal(
                description: "the state file cannot be opened as a SQLite database: \(ErrorText.describe(error))")
        }
    }

    private static func prepare(_ database: Database) throws {
        let id = try Int.fetchOne(database, sql: "PRAGMA application_id") ?? 0
        let found = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        if id == 0, found == 0, try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master") == 0 {
            try database.execute(sql: "PRAGMA application_id = \(applicationID)")
            try database.execute(sql: "PRAGMA user_version = \(version)")
            try database.execute(
                sql: """
                    CREATE TABLE entry (
                        kind TEXT NOT NULL, hub TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL,
                        PRIMARY KEY (kind, hub, key)
                    ) WITHOUT ROWID
                    """)
            return
        }
        guard id == applicationID else {
            throw Refusal(description: "the file is not a state file of the hub emulator")
        }
        guard found == version else {
            throw Refusal(description: "the state file has version \(found); this program reads version \(version)")
        }
        // Earlier versions kept IDs in the clients' case.
        try database.execute(
            sql: """
                UPDATE OR REPLACE entry SET key = lower(key)
                WHERE kind IN ('registration', 'installation') AND key <> lower(key)
                """)
    }

    /// All entries of a kind.
    func changes(_ kind: StateChange.Kind) throws -> [StateChange] {
        try queue.read { database in
            try Row.fetchAll(
                database, sql: "SELECT hub, key, value FROM entry WHERE kind = ?", arguments: [kind.rawValue]
            ).map { row in
                let value: Data = row[2]
                return StateChange(kind: kind, hub: row[0], key: row[1], value: Array(value))
            }
        }
    }

    /// Writes one transaction after another on GRDB's queue, until there are no more changes.
    func writeLater(_ next: @escaping @Sendable () -> [StateChange]) {
        queue.asyncWriteWithoutTransaction { [self] database in
            while true {
                let changes = next()
                if changes.isEmpty { return }
                apply(changes, to: database)
            }
        }
    }

    /// Waits until the changes are written that were waiting at the time of the call.
    func waitForWriter() {
        queue.writeWithoutTransaction { _ in }
    }

    func write(_ changes: [StateChange]) {
        queue.writeWithoutTransaction { apply(changes, to: $0) }
    }

    func close() {
        try? queue.close()
    }

    private func apply(_ changes: [StateChange], to database: Database) {
        do {
            try database.inTransaction {
                for change in changes { try Self.apply(change, to: database) }
                return .commit
            }
        } catch {
            logger.error("Writing the state file failed", metadata: ["error.message": "\(error)"])
        }
    }

    private static func apply(_ change: StateChange, to database: Database) throws {
        guard let value = change.value else {
            // A hub is deleted with everything on it.
            if change.kind == .hub {
                return try database.execute(sql: "DELETE FROM entry WHERE hub = ?", arguments: [change.hub])
            }
            return try database.cachedStatement(sql: "DELETE FROM entry WHERE kind = ? AND hub = ? AND key = ?")
                .execute(arguments: [change.kind.rawValue, change.hub, change.key])
        }
        try database.cachedStatement(sql: "INSERT OR REPLACE INTO entry (kind, hub, key, value) VALUES (?, ?, ?, ?)")
            .execute(arguments: [change.kind.rawValue, change.hub, change.key, Data(value)])
    }
}

/// The changes that must survive a restart. Without a state file it does nothing.
///
/// One writer writes the changes in their order: those during one transaction form the next one. Requests do not wait
/// for it, so a process that is killed can lose the changes of its last milliseconds.
final class StateJournal: Sendable {
    private struct State {
        var waiting: [StateChange] = []
        var isWriting = false
    }

    /// The maximum number of waiting changes. At the maximum, the next change waits for the file, so the emulator is as
    /// fast as its disk. Requests bound each change to 64 KB.
    static let maxWaiting = 10_000

    /// Keeps nothing.
    static let none = StateJournal(file: nil)

    private let file: StateFile?
    private let state = Mutex(State())

    init(file: StateFile?) {
        self.file = file
    }

    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Keeps a value.
    ///
    /// - Parameter value: evaluated only when there is a state file.
    func put(_ kind: StateChange.Kind, hub: String, key: String, value: @autoclosure () -> [UInt8]) {
        guard file != nil else { return }
        add(StateChange(kind: kind, hub: hub, key: key, value: value()))
    }

    func remove(_ kind: StateChange.Kind, hub: String, key: String) {
        guard file != nil else { return }
        add(StateChange(kind: kind, hub: hub, key: key, value: nil))
    }

    /// Writes the waiting changes and closes the file.
    func close() {
        guard let file else { return }
        file.write(
            state.withLock { state in
                defer { state.waiting = [] }
                return state.waiting
            })
        file.close()
    }

    private func add(_ change: StateChange) {
        let (isFirst, isFull) = state.withLock { state in
            state.waiting.append(change)
            defer { state.isWriting = true }
            return (!state.isWriting, state.waiting.count >= Self.maxWaiting)
        }
        if isFirst { file?.writeLater { [self] in takeWaiting() } }
        if isFull { file?.waitForWriter() }
    }

    /// The changes of the next transaction; none when the writer can stop.
    private func takeWaiting() -> [StateChange] {
        state.withLock { state in
            defer { state.waiting = [] }
            state.isWriting = !state.waiting.isEmpty
            return state.waiting
        }
    }
}

struct StateChange: Sendable {
    enum Kind: String, Sendable {
        case hub, registration, installation, schedule
    }

    let kind: Kind
    /// The hub's name in lower case.
    let hub: String
    /// The ID of a registration, installation or schedule; empty for the hub itself.
    let key: String
    /// Nil: removed.
    let value: [UInt8]?
}

/// Writes the last changes when the emulator stops. The first service stops last.
struct StateService: Service {
    let journal: StateJournal

    func run() async throws {
        try? await gracefulShutdown()
        journal.close()
    }
}
