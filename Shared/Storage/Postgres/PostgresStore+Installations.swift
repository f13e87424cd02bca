import Postgres
import SecurePushCore

extension PostgresStore: InstallationStore {
    func installation(_ id: String) async throws -> Installation? {
        var parameters = PostgresParameters()
        parameters.append(id)
        return try await installations(.installation, parameters).first
    }

    func installations(handle: String) async throws -> [Installation] {
        var parameters = PostgresParameters()
        parameters.append(handle)
        return try await installations(.installationsOfHandle, parameters)
    }

    func installations(after id: String?, limit: Int) async throws -> [Installation] {
        var parameters = PostgresParameters()
        parameters.append(id ?? "")
        parameters.append(Int64(max(limit, 0)))
        return try await installations(.installationsAfter, parameters)
    }

    private func installations(
        _ statement: PostgresStatement, _ parameters: PostgresParameters
    ) async throws -> [Installation] {
        let result = try await query(statement, parameters)
        return try decoding { try result.map(Installation.init) }
    }
}

extension PostgresStatement {
    private static let columns = "id, owner, platform, handle, document, updated_at"

    fileprivate static let installation = PostgresStatement(
        #"SELECT \#(columns) FROM installations WHERE lower(id) = lower($1::text COLLATE "C")"#)

    fileprivate static let installationsOfHandle = PostgresStatement(
        "SELECT \(columns) FROM installations WHERE handle = $1")

    /// Every ID comes behind the empty text, for none is empty.
    fileprivate static let installationsAfter = PostgresStatement(
        "SELECT \(columns) FROM installations WHERE id > $1 ORDER BY id LIMIT $2")
}

extension Installation {
    /// A row of the columns above.
    fileprivate init(_ row: PostgresRow) throws {
        self.init(
            id: try row.decode(0), owner: try row.userName(1),
            platform: Platform(rawValue: try row.decode(2)), handle: try row.decode(3),
            document: try row.decode(4), updatedAt: try row.timestamp(5))
    }
}
