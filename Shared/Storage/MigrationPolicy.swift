/// What opening a store does about a schema that is older than this program (`DATABASE_MIGRATE`).
public enum MigrationPolicy: Sendable, Hashable {
    /// Brings it up to date, under a lock (`auto`).
    case automatic
    /// Refuses with ``StorageError`` `migrationNeeded` (`check`).
    case check
}
