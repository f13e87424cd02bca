import Postgres
import SecurePushCore

/// Migrates a database's schema, on its own connection.
enum PostgresMigrator {
    private static let newest = PostgresMigration.all.map(\.version).max() ?? 0

    // An arbitrary key that nothing else in the database uses for an advisory lock: "securepu" in ASCII.
    private static let lock = PostgresStatement("SELECT pg_advisory_xact_lock(8315161591572361333)", isPrepared: false)

    private static let findTable = PostgresStatement(
        "SELECT to_regclass('schema_migrations') IS NOT NULL", isPrepared: false)

    private static let createTable = PostgresStatement(
        """
        CREATE TABLE IF NOT EXISTS schema_migrations (
            version integer PRIMARY KEY,
            name text NOT NULL,
            applied_at timestamptz NOT NULL DEFAULT now()
        )
        """, isPrepared: false)

    private static let findVersion = PostgresStatement(
        "SELECT coalesce(max(version), 0) FROM schema_migrations", isPrepared: false)

    /// A schema with our tables that the session does not use. Until a session set its own `search_path`, a role's
    /// default could name it.
    private static let findElsewhere = PostgresStatement(
        """
        SELECT space.nspname::text FROM pg_catalog.pg_class AS versions
        JOIN pg_catalog.pg_namespace AS space ON space.oid = versions.relnamespace
        WHERE versions.relname = 'schema_migrations' AND EXISTS (
            SELECT FROM pg_catalog.pg_class AS outbox
            WHERE outbox.relname = 'outbox' AND outbox.relnamespace = versions.relnamespace
        ) LIMIT 1
        """, isPrepared: false)

    private static let note = PostgresStatement(
        "INSERT INTO schema_migrations (version, name) VALUES ($1, $2)", isPrepared: false)

    /// Applies the missing migrations in one transaction, or with ``MigrationPolicy/check`` only checks for them.
    ///
    /// Processes that start together take turns by an advisory lock; the second one finds nothing to do.
    ///
    /// - Throws: ``StorageError``, with code `migrationNeeded` if the schema is newer than the program, or older with
    ///   ``MigrationPolicy/check``.
    static func migrate(
        _ configuration: PostgresConfiguration, policy: MigrationPolicy
    ) async throws -> MigrationReport {
        var configuration = configuration
        // Building an index, or waiting for another process that builds one, may take long.
        configuration.statementTimeout = nil
        configuration.queryTimeout = .seconds(3600)
        let connection: PostgresConnection
        do {
            connection = try PostgresConnection(configuration: configuration)
        } catch {
            throw StorageError.mapping(error)
        }
        do {
            try await connection.connect()
            let report = try await apply(policy, connection)
            await connection.close()
            return report
        } catch {
            await connection.close()
            throw StorageError.mapping(error)
        }
    }

    private static func apply(
        _ policy: MigrationPolicy, _ connection: PostgresConnection
    ) async throws -> MigrationReport {
        // The usual case needs no lock and no right to create tables.
        let version = try await version(connection)
        try check(version, policy)
        if version == newest { return MigrationReport(applied: [], version: version) }
        // Whoever names a schema wants these tables there, whatever others the database has.
        if version == 0, !connection.configuration.namesSearchPath,
            let name = try await connection.query(findElsewhere).first?.decode(0, as: String.self)
        {
            throw StorageError(
                .invalid,
                "The tables are in the schema \(name). Name it in the URL: options=-c%20search_path%3D\(name).")
        }
        return try await connection.withTransaction {
            _ = try await connection.query(lock)
            _ = try await connection.query(createTable)
            let version = try await Self.version(connection)
            try check(version, policy)
            var applied: [String] = []
            for migration in PostgresMigration.all where migration.version > version {
                try await connection.execute(migration.statements)
                try await record(migration, connection)
                applied.append(migration.name)
            }
            return MigrationReport(applied: applied, version: newest)
        }
    }

    /// The version of the schema; 0 for an empty database.
    private static func version(_ connection: PostgresConnection) async throws -> Int {
        let found = try await connection.query(findTable)
        guard try found.first?.decode(0, as: Bool.self) == true else { return 0 }
        return Int(try await connection.query(findVersion).first?.decode(0, as: Int32.self) ?? 0)
    }

    private static func record(_ migration: PostgresMigration, _ connection: PostgresConnection) async throws {
        var parameters = PostgresParameters()
        parameters.append(Int32(migration.version))
        parameters.append(migration.name)
        _ = try await connection.query(note, parameters)
    }

    private static func check(_ version: Int, _ policy: MigrationPolicy) throws(StorageError) {
        if version > newest {
            throw StorageError(.migrationNeeded, "The schema has version \(version); this program knows \(newest).")
        }
        if version < newest, policy == .check {
            throw StorageError(.migrationNeeded, "The schema has version \(version); this program needs \(newest).")
        }
    }
}
