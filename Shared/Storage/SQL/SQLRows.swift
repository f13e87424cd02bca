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

    /// The names of the columns.
    var names: String { columns.map(\.name).joined(separator: ", ") }

    private var head: String { "INSERT INTO \(table) (\(names))" }

    /// One statement for each row.
    var statements: [SQL] {
        rows.map { row in
            let values = zip(columns, row).map { "\(parameter: .value($0.type, $1))" as SQL }
            return "\(raw: head) VALUES (\(values.joined())) \(raw: conflict)"
        }
    }

    /// One statement for all rows, for PostgreSQL: a column is an array. `unnest` in a list of columns costs less than
    /// in FROM, where PostgreSQL keeps all rows in a buffer first.
    var statement: SQL {
        let arrays = columns.enumerated().map { index, column in
            "unnest(\(parameter: .list(column.type, rows.map { $0[index] })))" as SQL
        }
        return "\(raw: head) SELECT \(arrays.joined()) \(raw: conflict)"
    }

    var isEmpty: Bool { rows.isEmpty }
}

extension [SQL] {
    /// With commas between them.
    fileprivate func joined() -> SQL {
        dropFirst().reduce(first ?? "") { $0 + ", " + $1 }
    }
}
