import Domain
import Foundation
import GRDB
import Logging
import TestSupport
import Testing

@testable import Storage

extension SQLiteDatabase {
    fileprivate func write<Value: Sendable>(
        _ work: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { caller in
            write(work) { caller.resume(with: $0.mapError(\.error)) }
        }
    }
}

struct SQLiteDatabaseTests {
    private let logger = Logger(label: "SQLiteDatabaseTests") { _ in SwiftLogNoOpLogHandler() }

    private func withDatabase(_ body: @Sendable (SQLiteDatabase, String) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/x.sqlite"
            let database = try await SQLiteDatabase.open(path: path, migrations: .automatic)
            try await body(database, path)
            await database.close(logger: logger)
        }
    }

    @Test(arguments: [
        ("journal_mode", "wal"), ("synchronous", "2"), ("secure_delete", "1"),
    ])
    func `What is answered is on the disk, and what is deleted is gone`(_ name: String, _ value: String) async throws {
        try await withDatabase { database, _ in
            let found = try await database.write { db in try String.fetchOne(db, sql: "PRAGMA \(name)") }
            #expect(found == value)
        }
    }

    /// All bytes of the database, side files included.
    private func bytes(_ path: String) -> Data {
        ["", "-wal", "-shm"].reduce(into: Data()) { $0 += (try? Data(contentsOf: URL(filePath: path + $1))) ?? Data() }
    }

    @Test func `No payload is in the file in plain`() async throws {
        let canary = "CANARY-4711-the-secret-itself"
        let ring = try PayloadKeyRing(PayloadKeyRing.newLine())
        try await withTemporaryFolder { folder in
            try await withRunningStore("sqlite:\(folder)/x.sqlite") { test in
                var sent = SealedNotification.sample()
                sent.payload = try ring.seal(Array(canary.utf8), id: sent.id, recipient: .alice)
                try await test.store.append([sent])
                let bytes = bytes("\(folder)/x.sqlite")
                #expect(bytes.range(of: Data(sent.payload.bytes)) != nil)
                #expect(bytes.range(of: Data("CANARY-4711".utf8)) == nil)
            }
        }
    }

    @Test(arguments: [40, 20_000])
    func `A deleted payload leaves nothing behind, neither in the file nor in its log`(_ size: Int) async throws {
        let payload = (0..<size).map { UInt8(truncatingIfNeeded: ($0 &* 7919) >> 3) }
        let sent = SealedNotification.sample(payload: payload)
        let tail = Data(payload.suffix(32))
        try await withTemporaryFolder { folder in
            let path = "\(folder)/x.sqlite"
            let database = try await SQLiteDatabase.open(path: path, migrations: .automatic)
            _ = try await database.write { db in try SQLiteTransaction(db).append([sent]) }
            #expect(bytes(path).range(of: tail) != nil)
            try await database.write { db in try db.execute(sql: "DELETE FROM payloads") }
            await database.close(logger: logger)
            #expect(bytes(path).range(of: tail) == nil)
        }
    }

    @Test(arguments: [
        (ResultCode.SQLITE_BUSY, StorageError.Code.unavailable), (.SQLITE_LOCKED, .unavailable),
        (.SQLITE_FULL, .unavailable), (.SQLITE_IOERR_FSYNC, .connectionLost), (.SQLITE_READONLY, .unavailable),
        (.SQLITE_CANTOPEN, .unavailable), (.SQLITE_MISUSE, .unavailable), (.SQLITE_CORRUPT, .failed),
        (.SQLITE_NOTADB, .failed), (.SQLITE_CONSTRAINT_UNIQUE, .failed), (.SQLITE_ERROR, .failed),
    ])
    func `Failures say what to do next, and never quote values`(_ result: ResultCode, _ code: StorageError.Code) {
        let error = DatabaseError(
            resultCode: result, message: "reason", sql: "SELECT s3cret", arguments: ["s3cret"])
        #expect(StorageError(error).code == code)
        #expect(!"\(StorageError(error))".contains("s3cret"))
    }

    @Test func `A file that another process keeps locked is unavailable, and free again afterwards`() async throws {
        try await withTemporaryFolder { folder in
            try await withRunningStore("sqlite:\(folder)/x.sqlite") { test in
                var configuration = Configuration()
                configuration.allowsUnsafeTransactions = true
                let other = try DatabaseQueue(path: "\(folder)/x.sqlite", configuration: configuration)
                try await other.writeWithoutTransaction { db in try db.execute(sql: "BEGIN IMMEDIATE") }
                let error = await #expect(throws: StorageError.self) {
                    try await test.store.ping(timeout: .milliseconds(100))
                }
                #expect(error?.code == .timeout)
                #expect(try await test.store.find(NotificationID(), recipient: .alice) == nil)
                let waiting = Task { try await test.store.append([.sample()]) }
                try await other.writeWithoutTransaction { db in try db.execute(sql: "ROLLBACK") }
                try await waiting.value
                try await test.store.ping(timeout: .seconds(30))
            }
        }
    }
}
