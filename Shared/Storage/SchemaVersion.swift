import Domain

/// The one version of the services' schema.
enum SchemaVersion {
    static let current = 17
    static let name = "0017_baseline"

    static let missing = StorageError(
        .migrationNeeded, "The database does not have the current schema. Run `securepush migrate`.")
}
