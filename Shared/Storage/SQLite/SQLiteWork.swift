import Domain
import GRDB
import Synchronization

/// A change of the database, which is committed in one transaction with others.
struct SQLiteWork: Sendable {
    /// See ``FailedWork``.
    let kind: String
    /// How many changes it counts as when groups are formed.
    let weight: Int
    /// The approximate memory while it waits; see ``GroupCommitQueue/Capacity``.
    let bytes: Int
    /// Runs it for its caller. May be called several times, until a transaction with it is committed.
    let run: @Sendable (SQLiteTransaction) throws -> Void
    /// Runs it without a caller that waits.
    let trial: @Sendable (SQLiteTransaction) throws -> Void

    fileprivate init<Value>(
        kind: String, weight: Int, bytes: Int, reply: Reply<Value>,
        _ body: @escaping @Sendable (SQLiteTransaction) throws -> Value
    ) {
        (self.kind, self.weight, self.bytes) = (kind, weight, bytes)
        run = { db in try reply.run { try body(db) } }
        trial = { db in _ = try body(db) }
    }
}

extension SQLiteStore {
    /// Changes the database in one transaction with the changes of others. Before ``run()`` it throws at once, so that
    /// no caller hangs.
    ///
    /// - Throws: ``StorageError``, or the error of the body, which rolls back only this change.
    func commit<Value: Sendable>(
        _ kind: String = #function, weight: Int = 1, bytes: Int = 512,
        _ body: @escaping @Sendable (SQLiteTransaction) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { caller in
            commit(kind, weight: weight, bytes: bytes, body) { caller.resume(with: $0) }
        }
    }

    /// Commits a change for a callback, which runs on GRDB's queue.
    func commit<Value: Sendable>(
        _ kind: String = #function, weight: Int = 1, bytes: Int = 512,
        _ body: @escaping @Sendable (SQLiteTransaction) throws -> Value,
        then completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        if let notRunning { return completion(.failure(notRunning)) }
        let reply = Reply<Value>()
        writes.submit(SQLiteWork(kind: kind, weight: weight, bytes: bytes, reply: reply, body)) {
            completion(reply.result(of: $0))
        }
    }

    /// A change for each element, all in one transaction.
    func commit<Element: Sendable, Value: Sendable>(
        each elements: [Element], _ kind: String = #function, bytes: Int = 512,
        _ body: @escaping @Sendable (SQLiteTransaction, Element) throws -> Value
    ) async throws -> [Value] {
        if elements.isEmpty {
            try checkRunning()
            return []
        }
        return try await commit(kind, weight: elements.count, bytes: bytes * elements.count) { db in
            try elements.map { try body(db, $0) }
        }
    }
}

/// The result or error of a body, while its group is committed.
private final class Reply<Value: Sendable>: Sendable {
    private let last = Mutex<Result<Value, any Error>?>(nil)

    /// An error of the body itself is one that no neighbour in its group has: the group is divided until it is alone.
    func run(_ body: () throws -> Value) throws {
        last.withLock { $0 = nil }
        do {
            let value = try body()
            last.withLock { $0 = .success(value) }
        } catch let error as DatabaseError {
            throw error
        } catch {
            last.withLock { $0 = .failure(error) }
            throw StorageError(.failed, "A change was refused.")
        }
    }

    func result(of commit: Result<Void, any Error>) -> Result<Value, any Error> {
        let own = last.withLock { $0 }
        switch (commit, own) {
        case (.success, .success(let value)?): return .success(value)
        case (_, .failure(let error)?), (.failure(let error), _): return .failure(error)
        case (.success, nil): return .failure(StorageError(.failed, "A transaction did not run."))
        }
    }
}
