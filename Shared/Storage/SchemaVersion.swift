import Domain

/// The one version of the schema. No version of SecurePush has been released, so there are no steps from earlier ones.
///
/// Decision: docs/decisions/0025-no-steps-from-earlier-schemas.md
enum SchemaVersion {
    static let current = 17
    static let name = "0017_baseline"

    /// The report of a database in which this program has just created the schema, or has found it.
    static func report(isNew: Bool) -> MigrationReport {
        MigrationReport(applied: isNew ? [name] : [], version: current)
    }

    static let missing = StorageError(
        .migrationNeeded, "The database does not have the current schema. Run `securepush migrate`.")

    /// The refusal of a database that another version has created.
    static func refusal(of version: Int) -> StorageError {
        let needed = "The database has schema \(version), and this version of SecurePush needs schema \(current)."
        return version > current
            ? StorageError(.invalid, "\(needed) Run the newer version, or name another database.")
            : StorageError(
                .invalid,
                "\(needed) Name a new, empty database to begin anew. To keep devices, keys and sessions, export their "
                    + "tables and import them there: docs/how-to/upgrade.md.")
    }
}
