import DequeModule
import Synchronization

/// What is under way on a connection in pipeline mode, as a value: it says what an answer means, and does nothing.
///
/// Each query goes out as an optional Parse, then Bind and Execute, then Sync: it is a transaction of its own, and what
/// fails takes no other query with it. An answer counts only once its Sync has been answered, for the server commits
/// there and not before (PostgreSQL's manual, 34.5 and 55.2.4).
struct PostgresPipeline<Query, Reply> {
    /// What libpq gave: one item of `PQgetResult`.
    enum Event {
        case reply(Reply)
        case failure(PostgresError)
        /// Not done because of an earlier failure before the same Sync.
        case aborted
        /// The end of one command's results (`PQgetResult` gave none).
        case end
        case synced
    }

    enum Action {
        case none
        case complete(Query, Result<Reply, PostgresError>)
        /// The answer fits nothing that was asked: the connection cannot be used any more.
        case fail
    }

    private enum Phase { case preparing, running, syncing }

    private struct Entry {
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

    /// When the oldest query must have its answer. All have the same time to wait, so the oldest is the first due.
    var deadline: ContinuousClock.Instant? { entries.first?.deadline }

    /// The name under which the connection knows a statement; `isNew` if it must be prepared under it first.
    ///
    /// - Throws: with code `invalid` when the statement is prepared already for parameters of other types.
    mutating func name(
        for statement: PostgresStatement, _ parameters: PostgresParameters
    ) throws(PostgresError) -> (name: String, isNew: Bool) {
        guard statement.isPrepared else { return ("", true) }
        if let known = prepared[statement.number] {
            guard parameters.hasTypes(known.types) else {
                throw PostgresError(.invalid, "A statement's parameters must have the same types at each call.")
            }
            return (known.name, false)
        }
        preparedCount += 1
        // Never the name of one that failed or was forgotten: the server may still know that.
        let name = "s\(preparedCount)"
        prepared[statement.number] = Prepared(name: name, types: parameters.types)
        return (name, true)
    }

    /// Notes a query that was handed to libpq, preceded by a Parse of its own if `isPreparing`.
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

    /// Everything under way, the oldest first; nothing is known of the server's statements afterwards.
    mutating func removeAll() -> [Query] {
        defer { self = PostgresPipeline() }
        return entries.map(\.query)
    }

    private mutating func note(_ outcome: Result<Reply, PostgresError>) {
        if entries[0].outcome == nil { entries[0].outcome = outcome }
    }

    /// A statement that failed to prepare, or whose plan the server cannot use any more (its tables changed: 0A000), is
    /// prepared anew at its next use.
    private mutating func forget(after error: PostgresError) {
        guard entries[0].phase == .preparing || error.sqlState == "0A000" || error.sqlState == "26000" else { return }
        prepared[entries[0].statement] = nil
    }

    private mutating func completeFirst() -> Action {
        let entry = entries.removeFirst()
        let missing = PostgresError(.server, "The server answered nothing.")
        return .complete(entry.query, entry.outcome ?? .failure(missing))
    }
}

/// A statement's text, known to each connection by a number, so that it is prepared once a connection.
///
/// Make each statement once and keep it (`static let`): every value has a number of its own.
public struct PostgresStatement: Sendable {
    /// The SQL, parameters as `$1`; one statement.
    public let sql: String
    let number: Int
    let isPrepared: Bool

    private static let count = Atomic(0)

    /// - Parameter isPrepared: `false` for a statement that is not run again, such as one of a migration.
    public init(_ sql: String, isPrepared: Bool = true) {
        self.sql = sql
        self.isPrepared = isPrepared
        number = PostgresStatement.count.add(1, ordering: .relaxed).newValue
    }
}
