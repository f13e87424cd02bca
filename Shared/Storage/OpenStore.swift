public import Logging
import SecurePushCore

/// Opens the store that a configuration names.
///
/// For SQLite it makes the folder (mode 0700) and the file (0600), and migrates or checks the schema. For PostgreSQL it
/// does no network I/O: the service connects, migrates, and comes back after a break.
///
/// - Throws: ``StorageError``: `invalid` when the place cannot be used, `migrationNeeded` for a schema of another
///   version, `unavailable` when another process holds the file locked.
public func openStore(_ configuration: StorageConfiguration, logger: Logger) async throws -> OpenedStore {
    switch configuration.location {
    case .memory:
        return OpenedStore(MemoryStore(), service: IdleService(), kind: .memory)
    case .sqlite(let path):
        let database = try await SQLiteDatabase.open(path: path, migrations: configuration.migrations)
        logger.debug("Opened the database.", metadata: ["kind": "sqlite", "path": "\(path)"])
        let store = SQLiteStore(database, logger: logger)
        return OpenedStore(store, service: store, kind: .sqlite)
    case .postgres(let uri):
        let store = try PostgresStore(uri: uri, migrations: configuration.migrations, logger: logger)
        return OpenedStore(store, service: store, kind: .postgres)
    }
}

/// Brings the schema of a store up to date, and returns what that took.
///
/// - Throws: ``StorageError``.
public func migrateStore(_ configuration: StorageConfiguration, logger: Logger) async throws -> MigrationReport {
    switch configuration.location {
    case .memory:
        return MigrationReport(applied: [], version: 0)
    case .sqlite(let path):
        let database = try await SQLiteDatabase.open(path: path, migrations: .automatic)
        await database.close(logger: logger)
        return database.report
    case .postgres(let uri):
        return try await PostgresStore.migrate(uri: uri, logger: logger)
    }
}
