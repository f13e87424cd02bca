import Domain
import Logging
import Postgres
import ServiceLifecycle
import Synchronization

/// The store in PostgreSQL. Services on several machines can share it.
///
/// Concurrent calls share statements (``GroupCommit``), each of which is one transaction. Except for migrations, all
/// statements are lookups by key, over arrays of keys.
final class PostgresStore: Sendable {
    /// The maximum number of rows in one shared statement, for payloads up to ``SealedNotification/bytesPerWeight``.
    static let maxGroup = 512

    let client: PostgresClient
    let transactions: PostgresTransactions
    let appends: GroupCommit<SealedNotification, Void>
    let keyedAppends: GroupCommit<KeyedAppend, KeyedAppend.Outcome>
    let requestReadings: GroupCommit<IdempotentRequest.Key, IdempotentRequest?>
    let readings: GroupCommit<Reading, StoredNotification?>
    let readMarks: GroupCommit<ReadMark, Void>
    let shownMarks: GroupCommit<ReadMark, Void>
    let withdrawals: WithdrawalMode
    let failedWork: FailedWork
    /// Why the last attempt to migrate could not reach the database.
    private let startFailure = Mutex<PostgresError?>(nil)
    private let configuration: PostgresConfiguration
    private let migrator: PostgresMigrator
    private let migrations: MigrationPolicy
    private let logger: Logger

    /// Does not connect yet: ``run()`` does.
    ///
    /// - Parameters:
    ///   - withdrawals: see ``StorageConfiguration/withdrawals``.
    ///   - connections: the number of connections per process.
    /// - Throws: ``PostgresError`` with code `unavailable` if no thread or file descriptor is left.
    init(
        configuration: PostgresConfiguration, schema: StorageSchema = .services, migrations: MigrationPolicy,
        withdrawals: WithdrawalMode = .revoked, connections: Int = 4, logger: Logger
    ) throws(PostgresError) {
        self.configuration = configuration
        migrator = PostgresMigrator(schema: schema)
        self.migrations = migrations
        self.withdrawals = withdrawals
        self.logger = logger
        let tuned = PostgresStore.tuned(configuration)
        let failedWork = FailedWork()
        self.failedWork = failedWork
        let client = try PostgresClient(
            configuration: tuned, connections: connections, logger: logger,
            observer: { failedWork.note($0, $1, $2, at: tuned) })
        self.client = client
        transactions = PostgresTransactions(
            configuration: tuned, connections: connections,
            observer: { failedWork.note($0, $1, $2, at: tuned) })
        let limit = PostgresStore.maxGroup
        appends = GroupCommit(limit: limit, weight: \.commitWeight, bytes: \.heldBytes) { client.append($0, then: $1) }
        keyedAppends = GroupCommit(limit: limit, weight: \.commitWeight, bytes: \.heldBytes) {
            await client.append($0)
        }
        requestReadings = GroupCommit(limit: limit) { try await client.requests($0) }
        readings = GroupCommit(limit: limit) { client.find($0, then: $1) }
        readMarks = GroupCommit(limit: limit) { client.markRead($0, then: $1) }
        shownMarks = GroupCommit(limit: limit) { try await client.markShown($0) }
    }

    /// Every statement touches few rows by key. A plan that was made while the tables were small must not scan or hash
    /// whole tables once they are large. So such plans are disabled, and each statement is planned once.
    ///
    /// Decision: docs/decisions/0015-planner-settings.md
    private static func tuned(_ configuration: PostgresConfiguration) -> PostgresConfiguration {
        var configuration = configuration
        for feature in ["seqscan", "bitmapscan", "hashjoin", "mergejoin", "sort"] {
            configuration.runtimeParameters["enable_\(feature)"] = "off"
        }
        configuration.runtimeParameters["jit"] = "off"
        configuration.runtimeParameters["plan_cache_mode"] = "force_generic_plan"
        return configuration
    }

    /// Fails at once while there is no connection, instead of letting a request wait.
    ///
    /// - Throws: ``StorageError`` with code `unavailable`.
    func requireConnection() throws(StorageError) {
        if let missingConnection { throw missingConnection }
    }

    /// The error while there is no connection.
    var missingConnection: StorageError? {
        if client.isConnected { return nil }
        let failure = client.failure ?? startFailure.withLock { $0 }
        if failure?.isReadOnly == true { return .readOnly }
        let reason = failure?.connectionReason.map { " " + $0 } ?? ""
        return StorageError(.unavailable, "There is no connection to the database." + reason)
    }

    /// Runs a statement that no other call shares.
    ///
    /// - Throws: ``StorageError``, or `CancellationError`.
    func query(_ statement: PostgresStatement, _ parameters: PostgresParameters) async throws -> PostgresResult {
        do {
            return try await client.query(statement, parameters)
        } catch {
            throw StorageError.mapping(error)
        }
    }

    /// Runs a statement even if the task was cancelled, for work that must not stay half done. As in SQLite, a lease is
    /// given back then, and nobody waits until it expires.
    ///
    /// - Throws: ``StorageError``.
    func finish(_ statement: PostgresStatement, _ parameters: PostgresParameters) async throws -> PostgresResult {
        let result = await withCheckedContinuation { caller in
            client.query(statement, parameters) { caller.resume(returning: $0) }
        }
        do { return try result.get() } catch { throw StorageError(error) }
    }
}

extension PostgresStore: Service {
    /// Migrates the schema, then serves requests until shutdown; requests that wait then are still served. While the
    /// database cannot be reached, it keeps trying.
    ///
    /// - Throws: ``StorageError`` with code `migrationNeeded`, or `failed` if a migration failed.
    func run() async throws {
        try await cancelWhenGracefulShutdown { try await self.migrate() }
        startFailure.withLock { $0 = nil }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.client.runUntilCancelled() }
            await self.serveGroups()
            group.cancelAll()
        }
        await transactions.close()
    }

    private func serveGroups() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.appends.run() }
            group.addTask { await self.keyedAppends.run() }
            group.addTask { await self.requestReadings.run() }
            group.addTask { await self.readings.run() }
            group.addTask { await self.readMarks.run() }
            group.addTask { await self.shownMarks.run() }
        }
    }

    private func migrate() async throws {
        var failures = 0
        while !Task.isCancelled {
            do {
                let report = try await migrator.migrate(configuration, policy: migrations)
                let metadata: Logger.Metadata = [
                    "version": "\(report.version)", "applied": "\(report.applied.joined(separator: ", "))",
                ]
                return logger.info("The schema is up to date", metadata: metadata)
            } catch let error as PostgresError where StorageError(error).isRetriable {
                failures += 1
                let isNew = startFailure.withLock { last in
                    defer { last = error }
                    return last != error
                }
                let level: Logger.Level = isNew ? .warning : .debug
                logger.log(level: level, "Cannot reach the database", metadata: ["error": "\(error)"])
                try? await Task.sleep(for: .milliseconds(Int64.random(in: 100...min(5000, 200 << min(failures, 5)))))
            } catch is CancellationError {
                return
            } catch {
                throw StorageError.mapping(error)
            }
        }
    }
}

extension PostgresStore {
    /// The store for a libpq URI; does not connect yet.
    ///
    /// - Throws: ``StorageError`` with code `invalid`, whose message does not contain the URI, or `unavailable` if no
    ///   thread or file descriptor is left.
    convenience init(
        uri: String, schema: StorageSchema = .services, migrations: MigrationPolicy,
        withdrawals: WithdrawalMode = .revoked, logger: Logger
    ) throws(StorageError) {
        let configuration = try PostgresStore.configuration(uri)
        do throws(PostgresError) {
            try self.init(
                configuration: configuration, schema: schema, migrations: migrations, withdrawals: withdrawals,
                logger: logger)
        } catch {
            throw StorageError(error)
        }
    }

    /// Migrates the schema without opening a store.
    ///
    /// - Throws: ``StorageError``.
    static func migrate(
        uri: String, schema: StorageSchema = .services, logger: Logger
    ) async throws -> MigrationReport {
        let configuration = try configuration(uri)
        do {
            let report = try await PostgresMigrator(schema: schema).migrate(configuration, policy: .automatic)
            logger.debug("Migrated the database", metadata: ["version": "\(report.version)"])
            return report
        } catch {
            throw StorageError.mapping(error)
        }
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
        if isReadOnly { throw StorageError.readOnly }
    }
}

extension StorageError {
    static let readOnly = StorageError(.unavailable, "The database is read-only.")
}

extension PostgresStatement {
    /// True on a standby, and if the database is set to read-only.
    fileprivate static let isReadOnly = PostgresStatement("SELECT current_setting('transaction_read_only')::bool")
}
