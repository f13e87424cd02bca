import Foundation
import GRDB
import Logging

/// The SQLite file behind `EMULATOR_STATE`: one table of small documents.
final class StateFile: Sendable {
    /// Why a file cannot be used, in a sentence.
    struct Refusal: Error, CustomStringConvertible {
        let description: String
    }

    /// "HubE": marks the file as ours, so that no other database is ever written to.
    private static let applicationID = 0x4875_6245
    private static let version = 1
    /// Registrations and bodies of notifications are nobody else's.
    private static let mode: mode_t = 0o600

    private let queue: DatabaseQueue
    private let logger: Logger

    /// - Throws: ``Refusal``.
    init(path: String, logger: Logger) throws {
        self.logger = logger
        do {
            let folder = URL(filePath: path).deletingLastPathComponent()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            // Made here and not by SQLite, which asks the umask. Its other files get the mode of this one.
            let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, Self.mode)
            if descriptor >= 0 { _ = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true) }
            var configuration = Configuration()
            configuration.journalMode = .wal
            queue = try DatabaseQueue(path: path, configuration: configuration)
            try queue.write { try Self.prepare($0) }
            // It is ours: one that an earlier version made is closed to others too.
            for file in [path, path + "-wal", path + "-shm"] { _ = chmod(file, Self.mode) }
        } catch let error as Refusal {
            throw error
        } catch {
            throw Refusal(description: "the state file cannot be opened as a SQLite database: \(error)")
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
        guard id == applicationID else { throw Refusal(description: "the file is no state of a hub emulator") }
        guard found == version else {
            throw Refusal(description: "the state file is of version \(found), and this program reads \(version)")
        }
        // IDs were once kept in the case they came in.
        try database.execute(
            sql: """
                UPDATE OR REPLACE entry SET key = lower(key)
                WHERE kind IN ('registration', 'installation') AND key <> lower(key)
                """)
    }

    /// Calls with everything of a kind.
    func forEach(_ kind: StateChange.Kind, _ body: (_ hub: String, _ key: String, _ value: [UInt8]) -> Void) throws {
        try queue.read { database in
            let rows = try Row.fetchCursor(
                database, sql: "SELECT hub, key, value FROM entry WHERE kind = ?", arguments: [kind.rawValue])
            while let row = try rows.next() {
                let value: Data = row[2]
                body(row[0], row[1], Array(value))
            }
        }
    }

    /// Writes on GRDB's queue, transaction after transaction, until there are no more changes.
    func writeLater(_ next: @escaping @Sendable () -> [StateChange]) {
        queue.asyncWriteWithoutTransaction { [self] database in
            while true {
                let changes = next()
                if changes.isEmpty { return }
                apply(changes, to: database)
            }
        }
    }

    /// Returns when the writer has written what waited when this was called.
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
            logger.error("The state file cannot be written", metadata: ["error.message": "\(error)"])
        }
    }

    private static func apply(_ change: StateChange, to database: Database) throws {
        guard let value = change.value else {
            // With a hub goes everything on it.
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
