import Domain

/// The one version of the services' schema.
enum SchemaVersion {
    static let current = 18
    static let name = "0018_baseline"

    static let missing = StorageError(
        .migrationNeeded, "The database does not have the current schema. Run `securepush migrate`.")
}
