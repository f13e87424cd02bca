/// A statement for both databases with its values: each interpolated value becomes a parameter, so text and values
/// never mix.
struct SQL: Sendable, ExpressibleByStringInterpolation {
    fileprivate enum Part: Sendable {
        case text(String)
        case word(SQLWord)
        case parameter(SQLParameter)
        case list(SQLParameter, ListForm)
    }

    fileprivate enum ListForm: Sendable {
        case isIn, isNotIn
        case table(String)
    }

    fileprivate var parts: [Part]

    init(stringLiteral text: String) { parts = [.text(text)] }
    init(stringInterpolation: StringInterpolation) { parts = stringInterpolation.parts }

    static func + (left: SQL, right: SQL) -> SQL {
        var sum = left
        sum.parts += right.parts
        return sum
    }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var parts: [Part] = []

        init(literalCapacity: Int, interpolationCount: Int) { parts.reserveCapacity(2 * interpolationCount + 1) }

        mutating func appendLiteral(_ literal: String) { parts.append(.text(literal)) }

        mutating func appendInterpolation<Value: SQLEncodable>(_ value: Value) {
            parts.append(.parameter(.value(Value.sqlType, value.sqlValue)))
        }

        /// `nil` is NULL.
        mutating func appendInterpolation<Value: SQLEncodable>(_ value: Value?) {
            parts.append(.parameter(.value(Value.sqlType, value?.sqlValue ?? .null)))
        }

        /// A value, or a list, which is an array of PostgreSQL.
        mutating func appendInterpolation(parameter: SQLParameter) { parts.append(.parameter(parameter)) }

        /// The parts that differ between the databases, such as `\(.skipLocked)`.
        mutating func appendInterpolation(_ word: SQLWord) { parts.append(.word(word)) }

        /// Another statement, or a part of one.
        mutating func appendInterpolation(_ part: SQL) { parts += part.parts }

        /// Constant text, such as the names of columns. Never a value from outside: each text is prepared once, and
        /// kept.
        mutating func appendInterpolation(raw text: String) { parts.append(.text(text)) }

        /// `handle \(in: handles)`: whether the value on the left is one of these.
        mutating func appendInterpolation<Value: SQLEncodable>(in values: some Sequence<Value>) {
            parts.append(.list(.list(Value.sqlType, values.map(\.sqlValue)), .isIn))
        }

        /// `handle \(notIn: handles)`.
        mutating func appendInterpolation<Value: SQLEncodable>(notIn values: some Sequence<Value>) {
            parts.append(.list(.list(Value.sqlType, values.map(\.sqlValue)), .isNotIn))
        }

        /// `FROM \(table: ids, as: "asked")`: a table with one column, `value`.
        mutating func appendInterpolation<Value: SQLEncodable>(table values: some Sequence<Value>, as name: String) {
            parts.append(.list(.list(Value.sqlType, values.map(\.sqlValue)), .table(name)))
        }
    }
}

/// What PostgreSQL and SQLite spell differently.
struct SQLWord: Sendable {
    let postgres: String
    let sqlite: String

    /// Locks the rows that a SELECT finds until the end of the transaction. SQLite has one writer.
    static let forUpdate = SQLWord(postgres: "FOR UPDATE", sqlite: "")
    /// Locks the rows that a SELECT finds, without those that another process has locked.
    static let skipLocked = SQLWord(postgres: "FOR UPDATE SKIP LOCKED", sqlite: "")
    /// `LIMIT \(.all) OFFSET …`.
    static let all = SQLWord(postgres: "ALL", sqlite: "-1")
    /// `a \(.isNot) b`: whether they differ, where NULL equals NULL.
    static let isNot = SQLWord(postgres: "IS DISTINCT FROM", sqlite: "IS NOT")
}

enum Dialect: Sendable { case postgres, sqlite }

extension SQL {
    /// The text with numbered parameters for PostgreSQL, with anonymous ones for SQLite.
    func text(_ dialect: Dialect) -> String {
        var text = ""
        text.reserveCapacity(parts.reduce(64) { $0 + $1.capacity })
        var count = 0
        for part in parts {
            switch part {
            case .text(let literal): text += literal
            case .word(let word): text += dialect == .postgres ? word.postgres : word.sqlite
            case .parameter:
                count += 1
                text += dialect == .postgres ? "$\(count)" : "?"
            case .list(let parameter, let form):
                count += 1
                text += dialect == .postgres ? form.postgres(count) : form.sqlite(parameter)
            }
        }
        return text
    }

    var parameters: [SQLParameter] {
        parts.compactMap { part in
            switch part {
            case .parameter(let parameter), .list(let parameter, _): parameter
            case .text, .word: nil
            }
        }
    }
}

extension SQL.Part {
    fileprivate var capacity: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .word, .parameter: 4
        case .list: 80
        }
    }
}

extension SQL.ListForm {
    fileprivate func postgres(_ number: Int) -> String {
        switch self {
        case .isIn: "= ANY ($\(number))"
        case .isNotIn: "<> ALL ($\(number))"
        case .table(let name): "unnest($\(number)) AS \(name) (value)"
        }
    }

    /// A subquery, because `json_each` has more columns, such as `id` and `key`.
    fileprivate func sqlite(_ parameter: SQLParameter) -> String {
        let values = "(SELECT \(parameter.isHex ? "from_hex(value) AS value" : "value") FROM json_each(?))"
        return switch self {
        case .isIn: "IN \(values)"
        case .isNotIn: "NOT IN \(values)"
        case .table(let name): "\(values) AS \(name)"
        }
    }
}
