import Domain

/// Tables that are created together, and the mark of their version. Two schemas can share one database.
struct StorageSchema: Sendable {
    /// Where a database has the mark.
    enum Mark: Sendable {
        /// PostgreSQL: the table `schema_migrations`; SQLite: `user_version` (sqlite.org/pragma.html).
        case ofDatabase
        /// A table of this name and of the form of `schema_migrations`.
        case table(String)
    }

    let version: Int
    /// The name of the one step.
    let name: String
    let mark: Mark
    /// One of its tables: where that is, the mark is of this program.
    let knownTable: String
    let postgres: [String]
    let sqlite: [String]

    /// The table with the mark in PostgreSQL.
    var markTable: String {
        switch mark {
        case .ofDatabase: "schema_migrations"
        case .table(let name): name
        }
    }

    /// The report of a database in which this program has just created the schema, or has found it.
    func report(isNew: Bool) -> MigrationReport { MigrationReport(applied: isNew ? [name] : [], version: version) }

    /// The refusal of a database that another version has created.
    func refusal(of found: Int) -> StorageError {
        let needed = "The database has schema \(found), and this version of SecurePush needs schema \(version)."
        return found > version
            ? StorageError(.invalid, "\(needed) Run the newer version, or name another database.")
            : StorageError(
                .invalid,
                "\(needed) Name a new, empty database to begin anew. To keep devices, keys and sessions, export their "
                    + "tables and import them there: docs/how-to/upgrade.md.")
    }
}

extension StorageSchema {
    /// The tables of the services. No version of SecurePush has been released, so there are no steps from earlier ones.
    ///
    /// Decision: docs/decisions/0025-no-steps-from-earlier-schemas.md
    static let services = StorageSchema(
        version: SchemaVersion.current, name: SchemaVersion.name, mark: .ofDatabase, knownTable: "outbox",
        postgres: PostgresSchema.statements, sqlite: SQLiteSchema.statements)
}
