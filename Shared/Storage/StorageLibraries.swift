import GRDB
import Postgres

/// The versions of the C libraries that the stores use.
package enum StorageLibraries {
    /// Of libpq, as it is loaded.
    package static var libpq: String { PostgresLibrary.version }

    /// Of SQLite, as it is loaded.
    package static var sqlite: String {
        let version = try? DatabaseQueue().read { try String.fetchOne($0, sql: "SELECT sqlite_version()") }
        return (version ?? nil) ?? "unknown"
    }
}
