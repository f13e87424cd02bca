import Postgres
import SecurePushCore

extension PostgresStore: InstallationStore {
    func save(_ installation: Installation) async throws {
        var parameters = PostgresParameters(capacity: installation.document.count + 512)
        parameters.append(installation.id)
        parameters.append(installation.owner.text)
        parameters.append(installation.platform.rawValue)
        parameters.append(installation.handle)
        parameters.append(installation.document)
        parameters.append(installation.updatedAt.milliseconds)
        _ = try await query(.save, parameters)
    }

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

    func removeInstallation(_ id: String) async throws {
        var parameters = PostgresParameters()
        parameters.append(id)
        _ = try await query(.removeInstallation, parameters)
    }

    private func installations(
        _ statement: PostgresStatement, _ parameters: PostgresParameters
    ) async throws -> [Installation] {
        let result = try await query(statement, parameters)
        return try decoding { try result.map(Installation.init) }
    }
}

extension PostgresStatement {
    fileprivate static let save = PostgresStatement(
        """
        INSERT INTO installations (id, owner, platform, handle, document, updated_at) VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (id) DO UPDATE SET owner = excluded.owner, platform = excluded.platform,
            handle = excluded.handle, document = excluded.document, updated_at = excluded.updated_at
        """)

    private static let columns = "id, owner, platform, handle, document, updated_at"

    fileprivate static let installation = PostgresStatement("SELECT \(columns) FROM installations WHERE id = $1")

    fileprivate static let installationsOfHandle = PostgresStatement(
        "SELECT \(columns) FROM installations WHERE handle = $1")

    /// Every ID comes behind the empty text, for none is empty.
    fileprivate static let installationsAfter = PostgresStatement(
        "SELECT \(columns) FROM installations WHERE id > $1 ORDER BY id LIMIT $2")

    fileprivate static let removeInstallation = PostgresStatement("DELETE FROM installations WHERE id = $1")
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
