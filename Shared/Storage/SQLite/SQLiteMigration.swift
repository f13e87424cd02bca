import GRDB
import SecurePushCore

/// Brings a file to this program's schema, or refuses it.
enum SQLiteMigration {
    static let needed = StorageError(
        .migrationNeeded, "The database is not of this version's schema. Run `securepush migrate`.")
    private static let tooNew = StorageError(
        .migrationNeeded, "The database was migrated by a newer version. Run that version.")

    static func run(_ pool: DatabasePool, policy: MigrationPolicy) throws -> MigrationReport {
        let migrator = SQLiteSchema.migrator
        let before = try pool.read { db in
            if try migrator.hasBeenSuperseded(db) { throw tooNew }
            return try migrator.completedMigrations(db)
        }
        if before.count < migrator.migrations.count {
            if policy == .check { throw needed }
            try migrate(pool, migrator)
        }
        return MigrationReport(
            applied: Array(migrator.migrations.dropFirst(before.count)), version: migrator.migrations.count)
    }

    /// Each step is a transaction; one that another process took at the same time fails here and is there all the same.
    private static func migrate(_ pool: DatabasePool, _ migrator: DatabaseMigrator) throws {
        var done = -1
        while true {
            do {
                return try migrator.migrate(pool)
            } catch {
                let now = try pool.read { db in try migrator.completedMigrations(db).count }
                if now <= done { throw error }
                done = now
            }
        }
    }
}
