import Logging
import Postgres
import SecurePushCore

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
