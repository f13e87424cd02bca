package import Domain
package import Logging
package import ServiceLifecycle

package enum StoreKind: String, Sendable, CaseIterable {
    case memory
    case sqlite
    case postgres
}

/// A store, and the service that runs it.
package struct OpenedStore: Sendable {
    package let store: any Store
    /// Serves requests from the start of its `run()` until graceful shutdown, when it finishes those that it accepted.
    /// Before and after, calls of ``store`` throw ``StorageError`` with code `unavailable`.
    package let service: any Service
    package let kind: StoreKind
    private let failedWork: FailedWork?

    init(_ store: some Store, service: some Service, kind: StoreKind, failedWork: FailedWork? = nil) {
        self.store = store
        self.service = service
        self.kind = kind
        self.failedWork = failedWork
    }
}

extension OpenedStore {
    /// `nil` if the store can be written to, and all work succeeded that it did last; otherwise the reason, for an
    /// operator.
    package func readiness() async -> String? {
        do {
            try await store.ping(timeout: .seconds(1))
            return failedWork?.check().map { "\($0)" }
        } catch {
            return "\(error)"
        }
    }
}

extension OpenedStore {
    /// A service that begins when the store serves for the first time. Before, its requests would fail: that is
    /// expected while the first process creates the schema, and the store itself tells if the database is unavailable.
    package func following(_ service: any Service) -> any Service { FollowingService(store: store, service: service) }
}

private struct FollowingService: Service {
    let store: any Store
    let service: any Service

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var pause = Duration.milliseconds(10)
            while (try? await store.ping(timeout: .seconds(1))) == nil, !Task.isCancelled {
                try? await Task.sleep(for: pause)
                pause = min(pause * 2, .milliseconds(500))
            }
        }
        // Also after a shutdown: it ends by itself.
        try await service.run()
    }
}

/// Opens the store that a configuration names.
///
/// For SQLite it creates the folder (mode 0700) and the file (0600), and migrates or checks the schema. For PostgreSQL
/// it does no network I/O: the service connects, migrates, and reconnects when a connection breaks.
///
/// - Throws: ``StorageError`` with code `invalid` if the location cannot be used or has the schema of another version,
///   `migrationNeeded` for an empty database under ``MigrationPolicy/check``, `unavailable` if another process has
///   locked the file.
package func openStore(_ configuration: StorageConfiguration, logger: Logger) async throws -> OpenedStore {
    switch configuration.location {
    case .memory:
        let store = try openStoreInMemory(withdrawals: configuration.withdrawals)
        return OpenedStore(store, service: IdleService(), kind: .memory)
    case .sqlite(let path):
        let database = try await SQLiteDatabase.open(path: path, migrations: configuration.migrations)
        logger.debug("Opened the database", metadata: ["kind": "sqlite", "path": "\(path)"])
        let store = SQLiteStore(database, withdrawals: configuration.withdrawals, logger: logger)
        return OpenedStore(store, service: store, kind: .sqlite, failedWork: database.failedWork)
    case .postgres(let uri):
        let store = try PostgresStore(
            uri: uri, migrations: configuration.migrations, withdrawals: configuration.withdrawals, logger: logger)
        return OpenedStore(store, service: store, kind: .postgres, failedWork: store.failedWork)
    }
}

/// A store in the memory of this process, for tests and trials. It serves requests at once.
package func openStoreInMemory(withdrawals: WithdrawalMode = .revoked) throws -> any Store {
    let store = SQLiteStore(
        try SQLiteDatabase(), withdrawals: withdrawals, logger: Logger(label: "securepush.storage"))
    store.start()
    return store
}

/// Migrates the schema of a store to this version.
///
/// - Throws: ``StorageError``.
package func migrateStore(_ configuration: StorageConfiguration, logger: Logger) async throws -> MigrationReport {
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

/// How opening a store treats a database without a schema (`DATABASE_MIGRATE`).
package enum MigrationPolicy: Sendable, Hashable {
    /// Creates the schema, under a lock (`auto`).
    case automatic
    /// Throws ``StorageError`` with code `migrationNeeded` (`check`).
    case check
}

package struct MigrationReport: Sendable, Hashable {
    /// The names of the steps that were applied now, in their order; empty if the schema was up to date.
    package var applied: [String]
    /// The number of steps that have been applied in all.
    package var version: Int

    package init(applied: [String], version: Int) {
        self.applied = applied
        self.version = version
    }
}

/// The service of a store that needs none. It only waits, because a service that returns ends its group.
struct IdleService: Service {
    func run() async throws {
        try await gracefulShutdown()
    }
}
