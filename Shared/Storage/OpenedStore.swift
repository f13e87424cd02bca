public import Logging
public import SecurePushCore
public import ServiceLifecycle

/// Which of the stores one is.
public enum StoreKind: String, Sendable, CaseIterable {
    case memory
    case sqlite
    case postgres
}

/// A store, and the service that it works by.
public struct OpenedStore: Sendable {
    public let store: any Store
    /// Takes requests from the start of its `run()` until its graceful shutdown, when it finishes what it was given.
    /// Calls of ``store`` at other times throw ``StorageError`` with code `unavailable`.
    public let service: any Service
    public let kind: StoreKind

    init(_ store: some Store, service: some Service, kind: StoreKind) {
        self.store = store
        self.service = service
        self.kind = kind
    }
}

extension OpenedStore {
    /// `nil` when the store can be written to, else what is wrong, for an operator.
    public func readiness() async -> String? {
        do {
            try await store.ping(timeout: .seconds(1))
            return nil
        } catch {
            return "\(error)"
        }
    }
}

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

/// What opening a store does about a schema that is older than this program (`DATABASE_MIGRATE`).
public enum MigrationPolicy: Sendable, Hashable {
    /// Brings it up to date, under a lock (`auto`).
    case automatic
    /// Refuses with ``StorageError`` `migrationNeeded` (`check`).
    case check
}

/// What a migration did.
public struct MigrationReport: Sendable, Hashable {
    /// The names of the steps that were applied now, in their order; empty when the schema was up to date.
    public var applied: [String]
    /// The number of steps that the schema has had.
    public var version: Int

    public init(applied: [String], version: Int) {
        self.applied = applied
        self.version = version
    }
}

/// The service of a store that needs none: it only waits, for a service that returns ends its group.
struct IdleService: Service {
    func run() async throws {
        try await gracefulShutdown()
    }
}
