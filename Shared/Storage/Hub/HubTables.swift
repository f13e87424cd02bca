import Domain
package import Logging
package import ServiceLifecycle

/// The tables of the notification hub. All methods throw ``StorageError``.
///
/// A hub is named by its key, its name in lower case.
///
/// A transaction that changes several rows locks them in one order, to avoid deadlocks: names
/// (``SQLTransaction/lock(_:)``), installations by hub and ID, registrations by hub and place, and then their dependent
/// rows. Pushes are locked by their IDs, and then messages by theirs. If there is a deadlock all the same, PostgreSQL
/// ends one transaction with 40P01, and it runs again.
package struct HubTables: Sendable {
    let store: any SQLStore
    /// Concurrent requests for the first pages of sends share statements.
    let finds: GroupCommit<HubFind, HubPage>

    /// How many deleted IDs are kept. These are not accepted again.
    var maxRetiredIDs = 100_000

    /// The maximum number of registrations that one statement reads for one send.
    package static let pageSize = 500
    /// 2 GiB: millions of registrations.
    static let maxMemoryPages = 524_288
    /// The maximum number of tags whose registrations one statement finds. It bounds the memory.
    private static let maxGroup = 64

    init(_ store: some SQLStore) {
        self.store = store
        finds = GroupCommit(limit: Self.maxGroup, weight: \.keys.count) { store.pages(of: $0, then: $1) }
        finds.start()
    }
}

/// The tables of a hub, and the service that runs their store.
package struct OpenedHubTables: Sendable {
    package let tables: HubTables
    /// Serves requests from the start of its `run()` until graceful shutdown; see ``OpenedStore/service``.
    package let service: any Service
    package let kind: StoreKind
    private let opened: OpenedStore

    init(_ store: some Store & SQLStore, service: some Service, kind: StoreKind, failedWork: FailedWork? = nil) {
        tables = HubTables(store)
        self.service = service
        self.kind = kind
        opened = OpenedStore(store, service: service, kind: kind, failedWork: failedWork)
    }

    /// See ``OpenedStore/readiness()``.
    package func readiness() async -> String? { await opened.readiness() }

    /// See ``OpenedStore/following(_:)``.
    package func following(_ service: any Service) -> any Service { opened.following(service) }
}

/// Opens the tables of a hub in the database that a configuration names, alone or beside those of the services.
///
/// - Throws: ``StorageError``; see ``openStore(_:logger:)``.
package func openHubTables(_ configuration: StorageConfiguration, logger: Logger) async throws -> OpenedHubTables {
    switch configuration.location {
    case .memory:
        let store = SQLiteStore(try SQLiteDatabase(.hub, maxPages: HubTables.maxMemoryPages), logger: logger)
        store.start()
        return OpenedHubTables(store, service: IdleService(), kind: .memory)
    case .sqlite(let path):
        let database = try await SQLiteDatabase.open(path: path, .hub, migrations: configuration.migrations)
        let store = SQLiteStore(database, logger: logger)
        return OpenedHubTables(store, service: store, kind: .sqlite, failedWork: database.failedWork)
    case .postgres(let uri):
        let store = try PostgresStore(uri: uri, schema: .hub, migrations: configuration.migrations, logger: logger)
        return OpenedHubTables(store, service: store, kind: .postgres, failedWork: store.failedWork)
    }
}

/// Creates the tables of a hub, or checks their version.
///
/// - Throws: ``StorageError``.
package func migrateHubTables(_ configuration: StorageConfiguration, logger: Logger) async throws -> MigrationReport {
    switch configuration.location {
    case .memory:
        return MigrationReport(applied: [], version: 0)
    case .sqlite(let path):
        let database = try await SQLiteDatabase.open(path: path, .hub, migrations: .automatic)
        await database.close(logger: logger)
        return database.report
    case .postgres(let uri):
        return try await PostgresStore.migrate(uri: uri, schema: .hub, logger: logger)
    }
}
