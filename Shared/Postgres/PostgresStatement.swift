import Synchronization

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
