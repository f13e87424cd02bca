/// Rows that are inserted into a table together.
struct SQLRows: Sendable {
    private let table: String
    private let columns: [(name: String, type: SQLType)]
    private let conflict: String
    private var rows: [[SQLValue]] = []

    /// - Parameters:
    ///   - table: its name.
    ///   - columns: their names and types, in the order of the values of each row.
    ///   - conflict: the clause about rows that are there already, such as `ON CONFLICT (id) DO NOTHING`. It must not
    ///     change a row twice: PostgreSQL refuses that within a statement.
    init(into table: String, _ columns: [(name: String, type: SQLType)], conflict: String = "") {
        self.table = table
        self.columns = columns
        self.conflict = conflict
    }

    mutating func append(_ values: [SQLValue]) { rows.append(values) }

    private var head: String { "INSERT INTO \(table) (\(columns.map(\.name).joined(separator: ", ")))" }

    /// One statement for each row.
    var statements: [SQL] {
        let head = SQL(text: head + " VALUES ("), end = SQL(text: ") " + conflict)
        return rows.map { row in
            var sql = head
            for (index, value) in row.enumerated() {
                if index > 0 { sql = sql + ", " }
                sql = sql + SQL(parameter: .value(columns[index].type, value))
            }
            return sql + end
        }
    }

    /// One statement for all rows, for PostgreSQL: a column is an array. `unnest` in a list of columns costs less than
    /// in FROM, where PostgreSQL keeps all rows in a buffer first.
    var statement: SQL {
        var sql = SQL(text: head + " SELECT ")
        for (index, column) in columns.enumerated() {
            if index > 0 { sql = sql + ", " }
            sql = sql + "unnest(" + SQL(parameter: .list(column.type, rows.map { $0[index] })) + ")"
        }
        return sql + SQL(text: " " + conflict)
    }

    var isEmpty: Bool { rows.isEmpty }
}
