import DequeModule
import Synchronization

/// The queries in flight on a connection in pipeline mode, as a value: it interprets each reply, and does no I/O.
///
/// Each query is sent as an optional Parse, then Bind and Execute, then Sync: it is its own transaction, and its
/// failure affects no other query. A result counts only once its Sync has been answered, because the server commits
/// there and not before (PostgreSQL's manual, 34.5 and 55.2.4).
///
/// Decision: docs/decisions/0014-one-postgresql-statement-per-frequent-operation.md
struct PostgresPipeline<Query, Reply> {
    /// One item from `PQgetResult`.
    enum Event {
        case reply(Reply)
        case failure(PostgresError)
        /// Not executed because of an earlier failure before the same Sync.
        case aborted
        /// The end of one command's results (`PQgetResult` returned NULL).
        case end
        case synced
    }

    enum Action {
        case none
        case complete(Query, Result<Reply, PostgresError>)
        /// The reply matches no query: the connection cannot be used any more.
        case fail
    }

    fileprivate enum Phase { case preparing, running, syncing }

    fileprivate struct Entry {
        let query: Query
        let deadline: ContinuousClock.Instant
        let statement: Int
        var phase: Phase
        var outcome: Result<Reply, PostgresError>?
    }

    private struct Prepared {
        let name: String
        let types: [PostgresType]
    }

    private var entries: Deque<Entry> = []
    private var prepared: [Int: Prepared] = [:]
    private var preparedCount = 0

    var isEmpty: Bool { entries.isEmpty }
    var count: Int { entries.count }

    /// When the oldest query times out. All queries have the same time limit, so the oldest times out first.
    var deadline: ContinuousClock.Instant? { entries.first?.deadline }

    /// The statement's name on this connection; `isNew` if the statement must be prepared first.
    ///
    /// - Throws: ``PostgresError`` with code `invalid` if the statement is already prepared for other parameter types.
    mutating func name(
        for statement: PostgresStatement, _ parameters: PostgresParameters
    ) throws(PostgresError) -> (name: String, isNew: Bool) {
        guard statement.isPrepared else { return ("", true) }
        if let known = prepared[statement.number] {
            guard parameters.hasTypes(known.types) else {
                throw PostgresError(.invalid, "A statement's parameters must have the same types in each call.")
            }
            return (known.name, false)
        }
        preparedCount += 1
        // A name is never reused: the server may still know a statement that failed or was forgotten.
        let name = "s\(preparedCount)"
        prepared[statement.number] = Prepared(name: name, types: parameters.types)
        return (name, true)
    }

    /// Adds a query that was passed to libpq, with a Parse before it if `isPreparing`.
    mutating func sent(
        _ query: Query, statement: PostgresStatement, isPreparing: Bool, deadline: ContinuousClock.Instant
    ) {
        let phase: Phase = isPreparing ? .preparing : .running
        entries.append(Entry(query: query, deadline: deadline, statement: statement.number, phase: phase))
    }

    mutating func receive(_ event: Event) -> Action {
        guard !entries.isEmpty else { return .fail }
        switch (entries[0].phase, event) {
        case (.preparing, .reply): break
        case (.preparing, .end): entries[0].phase = .running
        case (.running, .reply(let reply)): note(.success(reply))
        case (.running, .aborted): note(.failure(PostgresError(.server, "The statement could not be prepared.")))
        case (.running, .end): entries[0].phase = .syncing
        case (.preparing, .failure(let error)), (.running, .failure(let error)):
            note(.failure(error))
            forget(after: error)
        case (.syncing, .failure(let error)): entries[0].outcome = .failure(error)
        case (.syncing, .end): break
        case (.syncing, .synced): return completeFirst()
        case (.preparing, .aborted), (.preparing, .synced), (.running, .synced), (.syncing, .reply),
            (.syncing, .aborted):
            return .fail
        }
        return .none
    }

    /// Removes all queries and all prepared statements; returns the queries, the oldest first.
    mutating func removeAll() -> [Query] {
        defer { self = PostgresPipeline() }
        return entries.map(\.query)
    }

    private mutating func note(_ outcome: Result<Reply, PostgresError>) {
        if entries[0].outcome == nil { entries[0].outcome = outcome }
    }

    /// A statement is prepared again at its next use if preparing it failed, or if the server cannot use its plan any
    /// more (0A000: its tables changed; 26000: the server does not know it).
    private mutating func forget(after error: PostgresError) {
        guard entries[0].phase == .preparing || error.sqlState == "0A000" || error.sqlState == "26000" else { return }
        prepared[entries[0].statement] = nil
    }

    private mutating func completeFirst() -> Action {
        let entry = entries.removeFirst()
        let missing = PostgresError(.server, "The server sent no result.")
        return .complete(entry.query, entry.outcome ?? .failure(missing))
    }
}

extension PostgresPipeline: Sendable where Query: Sendable, Reply: Sendable {}
extension PostgresPipeline.Entry: Sendable where Query: Sendable, Reply: Sendable {}

/// A statement's text with a number, by which each connection prepares it only once.
///
/// Create each statement once and keep it (`static let`): every value gets its own number.
package struct PostgresStatement: Sendable {
    /// The SQL of one statement, with parameters as `$1`.
    package let sql: String
    let number: Int
    let isPrepared: Bool

    private static let count = Atomic(0)

    /// A statement with its own number.
    ///
    /// - Parameter isPrepared: `false` for a statement that runs only once, such as one of a migration.
    package init(_ sql: String, isPrepared: Bool = true) {
        self.sql = sql
        self.isPrepared = isPrepared
        number = PostgresStatement.count.add(1, ordering: .relaxed).newValue
    }
}
