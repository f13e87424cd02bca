import Logging
import Postgres
import SecurePushCore
import ServiceLifecycle

/// The store in PostgreSQL, for more than one machine.
///
/// Concurrent calls share statements (``GroupCommit``), each of which is one transaction. All but the schema's set-up
/// is look-ups by key, over arrays of keys.
final class PostgresStore: Sendable {
    /// The most rows of one shared statement, of payloads up to ``SealedNotification/bytesPerWeight``.
    static let groupLimit = 512

    let client: PostgresClient
    let appends: GroupCommit<SealedNotification, Void>
    let keyedAppends: GroupCommit<KeyedAppend, KeyedAppend.Outcome>
    let requestReadings: GroupCommit<IdempotentRequest.Key, IdempotentRequest?>
    let readings: GroupCommit<Reading, StoredNotification?>
    let readMarks: GroupCommit<ReadMark, Void>
    private let configuration: PostgresConfiguration
    private let migrations: MigrationPolicy
    private let logger: Logger

    /// Connects to nothing yet: ``run()`` does.
    ///
    /// - Parameter connections: how many connections each process holds.
    /// - Throws: ``PostgresError`` where no thread or descriptor is left for them.
    init(
        configuration: PostgresConfiguration, migrations: MigrationPolicy, connections: Int = 4, logger: Logger
    ) throws(PostgresError) {
        self.configuration = configuration
        self.migrations = migrations
        self.logger = logger
        let client = try PostgresClient(
            configuration: PostgresStore.tuned(configuration), connections: connections, logger: logger)
        self.client = client
        let limit = PostgresStore.groupLimit
        appends = GroupCommit(limit: limit, weight: \.commitWeight, bytes: \.heldBytes) { try await client.append($0) }
        keyedAppends = GroupCommit(limit: limit, weight: \.commitWeight, bytes: \.heldBytes) {
            await client.append($0)
        }
        requestReadings = GroupCommit(limit: limit) { try await client.requests($0) }
        readings = GroupCommit(limit: limit) { try await client.find($0) }
        readMarks = GroupCommit(limit: limit) { try await client.markRead($0) }
    }

    /// Every statement touches few rows by key. A plan that was made while the tables were small must not scan them, or
    /// hash them whole, once they are large; so such plans are ruled out, and each statement is planned once.
    private static func tuned(_ configuration: PostgresConfiguration) -> PostgresConfiguration {
        var configuration = configuration
        for feature in ["seqscan", "bitmapscan", "hashjoin", "mergejoin", "sort"] {
            configuration.runtimeParameters["enable_\(feature)"] = "off"
        }
        configuration.runtimeParameters["jit"] = "off"
        configuration.runtimeParameters["plan_cache_mode"] = "force_generic_plan"
        return configuration
    }

    /// Refuses at once what could not be done now, instead of letting it wait.
    ///
    /// - Throws: ``StorageError`` with code `unavailable`.
    func requireConnection() throws(StorageError) {
        guard client.isConnected else { throw StorageError(.unavailable, "There is no connection to the database.") }
    }

    /// Runs a statement of its own.
    ///
    /// - Throws: ``StorageError``, or `CancellationError`.
    func query(_ statement: PostgresStatement, _ parameters: PostgresParameters) async throws -> PostgresResult {
        do {
            return try await client.query(statement, parameters)
        } catch {
            throw StorageError.mapping(error)
        }
    }
}

extension PostgresStore: Service {
    /// Brings the schema up to date, then serves until shutdown; requests that are waiting then are still served.
    ///
    /// - Throws: ``StorageError`` with code `migrationNeeded`, or `failed` when the schema could not be made. While the
    ///   database cannot be reached it goes on trying.
    func run() async throws {
        try await cancelWhenGracefulShutdown { try await self.migrate() }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.client.runUntilCancelled() }
            await self.serveGroups()
            group.cancelAll()
        }
    }

    private func serveGroups() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.appends.run() }
            group.addTask { await self.keyedAppends.run() }
            group.addTask { await self.requestReadings.run() }
            group.addTask { await self.readings.run() }
            group.addTask { await self.readMarks.run() }
        }
    }

    private func migrate() async throws {
        var failures = 0
        while !Task.isCancelled {
            do {
                let report = try await PostgresMigrator.migrate(configuration, policy: migrations)
                let metadata: Logger.Metadata = [
                    "version": "\(report.version)", "applied": "\(report.applied.joined(separator: ", "))",
                ]
                return logger.info("The schema is up to date.", metadata: metadata)
            } catch let error as StorageError where error.isRetriable {
                failures += 1
                let level: Logger.Level = failures == 1 ? .warning : .debug
                logger.log(level: level, "Cannot reach the database.", metadata: ["error": "\(error)"])
                try? await Task.sleep(for: .milliseconds(Int64.random(in: 100...min(5000, 200 << min(failures, 5)))))
            } catch is CancellationError {
                return
            }
        }
    }
}

extension PostgresStore {
    /// The store of a libpq URI; connects to nothing yet.
    ///
    /// - Throws: ``StorageError`` with code `invalid`, whose message does not repeat the URI, or `unavailable` where no
    ///   thread or descriptor is left.
    convenience init(uri: String, migrations: MigrationPolicy, logger: Logger) throws(StorageError) {
        let configuration = try PostgresStore.configuration(uri)
        do throws(PostgresError) {
            try self.init(configuration: configuration, migrations: migrations, logger: logger)
        } catch {
            throw StorageError(error)
        }
    }

    /// Brings the schema up to date, without a store.
    ///
    /// - Throws: ``StorageError``.
    static func migrate(uri: String, logger: Logger) async throws -> MigrationReport {
        let configuration = try configuration(uri)
        let report = try await PostgresMigrator.migrate(configuration, policy: .automatic)
        logger.debug("Migrated the database.", metadata: ["version": "\(report.version)"])
        return report
    }

    private static func configuration(_ uri: String) throws(StorageError) -> PostgresConfiguration {
        do { return try PostgresConfiguration(uri: uri) } catch { throw StorageError(error) }
    }
}

extension PostgresStore: Store {
    func ping(timeout: Duration) async throws {
        try requireConnection()
        let isReadOnly = try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                let result = try await self.query(.isReadOnly, PostgresParameters())
                return try decoding { try result.first?.decode(0) ?? true }
            }
            group.addTask {
                try await Task.sleep(for: timeout)
                throw StorageError(.timeout, "No answer from the database within \(timeout).")
            }
            defer { group.cancelAll() }
            return try await group.next() ?? true
        }
        if isReadOnly { throw StorageError(.unavailable, "The database is read-only.") }
    }
}

extension PostgresStatement {
    /// True on a standby, and where the database is set read-only.
    fileprivate static let isReadOnly = PostgresStatement("SELECT current_setting('transaction_read_only')::bool")
}
