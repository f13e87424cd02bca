import Domain
import Postgres

/// Creates a schema in a database, on its own connection.
struct PostgresMigrator: Sendable {
    let schema: StorageSchema

    // An arbitrary key that nothing else in the database uses for an advisory lock: "securepu" in ASCII.
    private static let lock = PostgresStatement("SELECT pg_advisory_xact_lock(8315161591572361333)", isPrepared: false)

    /// Creates the schema in one transaction, or with ``MigrationPolicy/check`` only checks that it is there.
    ///
    /// Processes that start together take turns by an advisory lock; the second one finds nothing to do.
    ///
    /// - Throws: ``StorageError`` with code `invalid` for the schema of another version, with `migrationNeeded` for an
    ///   empty database with ``MigrationPolicy/check``; ``PostgresError``.
    func migrate(
        _ configuration: PostgresConfiguration, policy: MigrationPolicy
    ) async throws -> MigrationReport {
        var configuration = configuration
        // Waiting for another process that creates the schema may take long.
        configuration.statementTimeout = nil
        configuration.queryTimeout = .seconds(3600)
        let connection = try PostgresConnection(configuration: configuration)
        do {
            try await connection.connect()
            if await connection.isPooled { try await Self.expectSessions(of: configuration) }
            let report = try await apply(policy, connection)
            await connection.close()
            return report
        } catch {
            await connection.close()
            throw error
        }
    }

    /// A second session beside an idle one: in a pooler's transaction mode it is the same one, which its mark tells.
    ///
    /// - Throws: ``PostgresError`` with code `invalid` if clients share sessions. Without room for one more it says
    ///   nothing.
    private static func expectSessions(of configuration: PostgresConfiguration) async throws {
        let second = try PostgresConnection(configuration: configuration)
        do {
            try await second.connect()
            await second.close()
        } catch {
            await second.close()
            guard let error = error as? PostgresError, error.code == .unavailable else { throw error }
        }
    }

    private func apply(
        _ policy: MigrationPolicy, _ connection: PostgresConnection
    ) async throws -> MigrationReport {
        // The usual case needs no lock and no right to create tables.
        if try await isCurrent(connection) { return schema.report(isNew: false) }
        if policy == .check { throw SchemaVersion.missing }
        // An operator who names a schema wants these tables there, whatever others the database has.
        if !connection.configuration.namesSearchPath,
            let name = try await connection.query(statement(findElsewhere)).first?.decode(0, as: String.self)
        {
            throw StorageError(
                .invalid,
                "The tables are in the schema \(name). Name it in the URL: options=-c%20search_path%3D\(name).")
        }
        return try await connection.withTransaction {
            _ = try await connection.query(Self.lock)
            _ = try await connection.query(statement(createTable))
            if try await isCurrent(connection) { return schema.report(isNew: false) }
            try await connection.execute(schema.postgres)
            var parameters = PostgresParameters()
            parameters.append(Int32(schema.version))
            parameters.append(schema.name)
            _ = try await connection.query(
                statement("INSERT INTO \(schema.markTable) (version, name) VALUES ($1, $2)"), parameters)
            return schema.report(isNew: true)
        }
    }

    /// Whether the database has the schema; `false` for an empty one.
    private func isCurrent(_ connection: PostgresConnection) async throws -> Bool {
        let find = "SELECT to_regclass('\(schema.markTable)') IS NOT NULL"
        let found = try await connection.query(statement(find))
        guard try found.first?.decode(0, as: Bool.self) == true else { return false }
        let findVersion = "SELECT coalesce(max(version), 0) FROM \(schema.markTable)"
        let version = try await connection.query(statement(findVersion)).first?.decode(0, as: Int32.self) ?? 0
        if version == schema.version { return true }
        guard version == 0 else { throw schema.refusal(of: Int(version)) }
        return false
    }

    private func statement(_ text: String) -> PostgresStatement { PostgresStatement(text, isPrepared: false) }

    private var createTable: String {
        """
        CREATE TABLE IF NOT EXISTS \(schema.markTable) (
            version integer PRIMARY KEY,
            name text NOT NULL,
            applied_at timestamptz NOT NULL DEFAULT now()
        )
        """
    }

    /// A schema with our tables that the session does not use. Until a session set its own `search_path`, a role's
    /// default could name it. Tables that the session sees are those that another process has created meanwhile.
    private var findElsewhere: String {
        """
        SELECT space.nspname::text FROM pg_catalog.pg_class AS versions
        JOIN pg_catalog.pg_namespace AS space ON space.oid = versions.relnamespace
        WHERE versions.relname = '\(schema.markTable)' AND NOT pg_catalog.pg_table_is_visible(versions.oid) AND EXISTS (
            SELECT FROM pg_catalog.pg_class AS known
            WHERE known.relname = '\(schema.knownTable)' AND known.relnamespace = versions.relnamespace
        ) LIMIT 1
        """
    }
}
