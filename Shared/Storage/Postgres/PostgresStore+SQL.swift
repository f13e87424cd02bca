import Domain
import Postgres
import Synchronization

extension PostgresStore: SQLStore {
    func reading<Value: Sendable>(
        kind: String, _ body: @escaping @Sendable (any SQLTransaction) throws -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        return try await transaction(isReadOnly: true, body)
    }

    func writing<Value: Sendable>(
        kind: String, weight: Int, bytes: Int, _ body: @escaping @Sendable (any SQLTransaction) throws -> Value
    ) async throws -> Value {
        try await transaction(isReadOnly: false, body)
    }

    private func transaction<Value: Sendable>(
        isReadOnly: Bool, _ body: @escaping @Sendable (any SQLTransaction) throws -> Value
    ) async throws -> Value {
        try requireConnection()
        do { return try await transactions.run(isReadOnly: isReadOnly, body) } catch {
            throw StorageError.mapping(error)
        }
    }

    func run(weight: Int, _ sql: SQL) async throws -> Int {
        try await finish(PostgresStatement.cached(sql), sql.postgresParameters).affectedRows
    }

    func change<Value: Sendable>(
        weight: Int, _ sql: SQL, _ read: @escaping @Sendable (inout SQLRow) throws -> Value
    ) async throws -> [Value] {
        let result = try await finish(PostgresStatement.cached(sql), sql.postgresParameters)
        return try decoding { try result.map { try $0.read(read) } }
    }

    func all<Value: Sendable>(
        _ sql: SQL, _ read: @escaping @Sendable (inout SQLRow) throws -> Value
    ) async throws -> [Value] {
        let result = try await query(PostgresStatement.cached(sql), sql.postgresParameters)
        return try decoding { try result.map { try $0.read(read) } }
    }

    func all<Value: Sendable>(
        _ sql: SQL, _ read: @escaping @Sendable (inout SQLRow) throws -> Value,
        then completion: @escaping @Sendable (Result<[Value], any Error>) -> Void
    ) {
        client.query(PostgresStatement.cached(sql), sql.postgresParameters) { result in
            completion(
                Result {
                    do {
                        let rows = try result.get()
                        return try decoding { try rows.map { try $0.read(read) } }
                    } catch {
                        throw StorageError.mapping(error)
                    }
                })
        }
    }

    func insert(_ rows: SQLRows, bytes: Int) async throws {
        if !rows.isEmpty { try await run(rows.statement) }
    }
}

extension PostgresTransaction: SQLTransaction {
    @discardableResult func run(_ sql: SQL) throws -> Int {
        try query(.cached(sql), sql.postgresParameters).affectedRows
    }

    func run(each statements: [SQL]) {
        queryLater(statements.map { (.cached($0), $0.postgresParameters) })
    }

    func lock(_ names: [String]) {
        run(each: names.map { "SELECT pg_advisory_xact_lock(hashtextextended(\($0), 0))" })
    }

    func first<Value>(_ sql: SQL, _ read: (inout SQLRow) throws -> Value) throws -> Value? {
        try query(.cached(sql), sql.postgresParameters).first?.read(read)
    }

    func all<Value>(_ sql: SQL, _ read: (inout SQLRow) throws -> Value) throws -> [Value] {
        try query(.cached(sql), sql.postgresParameters).map { try $0.read(read) }
    }
}

extension PostgresRow: SQLRow.Columns {
    func value(of column: Int) throws -> SQLValue {
        switch type(of: column) {
        case .bool: try decodeIfPresent(column).map(SQLValue.bool) ?? .null
        case .int2: try decodeIfPresent(column, as: Int16.self).map { .integer(Int64($0)) } ?? .null
        case .int4: try decodeIfPresent(column, as: Int32.self).map { .integer(Int64($0)) } ?? .null
        case .int8: try decodeIfPresent(column).map(SQLValue.integer) ?? .null
        case .text, .varchar: try decodeIfPresent(column).map(SQLValue.text) ?? .null
        case .bytea: try decodeIfPresent(column).map(SQLValue.bytes) ?? .null
        case .uuid: try decodeIfPresent(column, as: PostgresUUID.self).map { .id(NotificationID($0)) } ?? .null
        default: throw unreadable(name(of: column))
        }
    }

    fileprivate func read<Value>(_ read: (inout SQLRow) throws -> Value) throws -> Value {
        var row = SQLRow(self)
        return try read(&row)
    }
}

extension PostgresStatement {
    /// More texts than the program has. Further ones are not prepared.
    private static let maxTexts = 1024
    private static let texts = Mutex<[String: PostgresStatement]>([:])

    /// The statement with this text, which each connection prepares once.
    fileprivate static func cached(_ sql: SQL) -> PostgresStatement {
        let text = sql.text(.postgres)
        return texts.withLock { known in
            if let statement = known[text] { return statement }
            guard known.count < maxTexts else { return PostgresStatement(text, isPrepared: false) }
            let statement = PostgresStatement(text)
            known[text] = statement
            return statement
        }
    }
}

extension SQL {
    fileprivate var postgresParameters: PostgresParameters {
        var parameters = PostgresParameters()
        for parameter in self.parameters {
            switch parameter {
            case .value(.bool, let value): parameters.append(Bool(sql: value))
            case .value(.integer, let value): parameters.append(Int64(sql: value))
            case .value(.text, let value): parameters.append(String(sql: value))
            case .value(.bytes, let value): parameters.append([UInt8](sql: value))
            case .value(.id, let value): parameters.append(NotificationID(sql: value).map(PostgresUUID.init))
            case .list(.bool, let values): parameters.append(values) { Bool(sql: $0) }
            case .list(.integer, let values): parameters.append(values) { Int64(sql: $0) }
            case .list(.text, let values): parameters.append(values) { String(sql: $0) }
            case .list(.bytes, let values): parameters.append(values) { [UInt8](sql: $0) }
            case .list(.id, let values): parameters.append(values) { NotificationID(sql: $0).map(PostgresUUID.init) }
            }
        }
        return parameters
    }
}
