public import Logging
import Postgres
import SecurePushCore

extension DatabaseRoles {
    /// Makes the roles, runs pending migrations as ``DatabaseRole/owner``, and gives each role its rights.
    ///
    /// It can be run again. Services that run meanwhile never lack a right that they had: each part is one transaction.
    ///
    /// - Parameter uri: the database as a superuser, or as one who may make roles and take the owner on.
    /// - Throws: ``StorageError``, and ``PostgresError`` mapped to it.
    public static func apply(
        uri: String, verifiers: [DatabaseRole: String], logger: Logger
    ) async throws -> MigrationReport {
        guard case .postgres = try StorageConfiguration(url: uri).location else {
            throw StorageError(.invalid, "Roles are PostgreSQL's: the database URL must begin with postgres://.")
        }
        try await run(roles(verifiers: verifiers), uri: uri)
        let asOwner = uri + (uri.contains("?") ? "&" : "?") + "options=-c%20role%3D\(DatabaseRole.owner)"
        let report = try await migrateStore(StorageConfiguration(url: asOwner), logger: logger)
        try await run(grants(), uri: asOwner)
        return report
    }

    private static func run(_ statements: [String], uri: String) async throws {
        do {
            let connection = try PostgresConnection(configuration: try PostgresConfiguration(uri: uri))
            do {
                try await connection.connect()
                try await connection.withTransaction { try await connection.execute(statements) }
                await connection.close()
            } catch {
                await connection.close()
                throw error
            }
        } catch {
            throw StorageError.mapping(error)
        }
    }
}
