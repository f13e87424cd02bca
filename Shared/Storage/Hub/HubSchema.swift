/// The tables of the notification hub, in one text for both databases. Their meanings are in
/// docs/reference/database-schema.md.
///
/// A hub's key is its name in lower case. IDs are compared without regard to case. Times are milliseconds since the
/// Unix epoch.
enum HubSchema {
    static let statements: [SQL] =
        hubs + registrations + installations + schedules + deliveries + pushTokens + imports

    /// The names of the tables, in their order.
    static let tables = statements.compactMap { statement -> String? in
        let words = statement.text(.postgres).split(separator: " ", maxSplits: 3)
        return words.count > 2 && words[0] == "CREATE" && words[1] == "TABLE" ? String(words[2]) : nil
    }

    static let markTable = "hub_schema_migrations"

    // A row without a description is a hub that was created by use. A deleted hub leaves its row, so that a later use
    // does not create it again.
    private static let hubs: [SQL] = [
        """
        CREATE TABLE hub_hubs (
            hub \(.text) PRIMARY KEY NOT NULL,
            name \(.text) NOT NULL,
            description \(.bytes),
            deleted_at \(.integer)
        ) \(.keyed)
        """,
        "CREATE INDEX hub_hubs_deleted ON hub_hubs (deleted_at) WHERE deleted_at IS NOT NULL",
    ]

    // `sequence` is the place in lists. A device of a send is found by `hub_tags`: one row for each tag, and one for
    // the audience. `retired` has IDs that were deleted, which a client cannot use again.
    private static let registrations: [SQL] = [
        """
        CREATE TABLE hub_registrations (
            sequence \(.counter),
            hub \(.text) NOT NULL,
            id \(.text) NOT NULL,
            version \(.integer) NOT NULL,
            format \(.text) NOT NULL,
            is_template \(.truth) NOT NULL,
            tags \(.text) NOT NULL,
            handle \(.text) NOT NULL,
            installation_id \(.text),
            slot \(.text),
            updated_at \(.integer) NOT NULL,
            expires_at \(.integer),
            document \(.bytes) NOT NULL,
            push_key \(.text)
        ) \(.table)
        """,
        "CREATE UNIQUE INDEX hub_registrations_id ON hub_registrations (hub, lower(id))",
        "CREATE INDEX hub_registrations_handle ON hub_registrations \(.byHash) (handle)",
        """
        CREATE INDEX hub_registrations_installation ON hub_registrations (hub, installation_id)
        WHERE installation_id IS NOT NULL
        """,
        """
        CREATE TABLE hub_tags (
            key \(.text) NOT NULL,
            registration \(.integer) NOT NULL,
            PRIMARY KEY (key, registration)
        ) \(.keyed)
        """,
        """
        CREATE TABLE hub_retired_ids (
            sequence \(.counter),
            hub \(.text) NOT NULL,
            id \(.text) NOT NULL
        ) \(.table)
        """,
        "CREATE UNIQUE INDEX hub_retired_ids_id ON hub_retired_ids (hub, id)",
    ]

    private static let installations: [SQL] = [
        """
        CREATE TABLE hub_installations (
            hub \(.text) NOT NULL,
            id \(.text) NOT NULL,
            document \(.bytes) NOT NULL,
            updated_at \(.integer) NOT NULL,
            expires_at \(.integer),
            PRIMARY KEY (hub, id)
        ) \(.table)
        """,
        "CREATE INDEX hub_installations_expiry ON hub_installations (expires_at) WHERE expires_at IS NOT NULL",
    ]

    // While a process delivers a send, `due_at` is the time at which another process may continue, and `claim`
    // identifies the process. The devices up to `place` have their pushes. A row with `set_aside_at` cannot be read,
    // and is never due.
    private static let schedules: [SQL] = [
        """
        CREATE TABLE hub_schedules (
            id \(.text) PRIMARY KEY NOT NULL,
            hub \(.text) NOT NULL,
            due_at \(.integer) NOT NULL,
            request \(.bytes) NOT NULL,
            claim \(.integer),
            place \(.integer) NOT NULL,
            set_aside_at \(.integer)
        ) \(.table)
        """,
        "CREATE INDEX hub_schedules_due ON hub_schedules (due_at) WHERE set_aside_at IS NULL",
        "CREATE INDEX hub_schedules_aside ON hub_schedules (set_aside_at) WHERE set_aside_at IS NOT NULL",
        "CREATE INDEX hub_schedules_hub ON hub_schedules (hub)",
    ]
}

extension StorageSchema {
    /// The tables of the notification hub.
    static let hub = StorageSchema(
        version: 2, name: "hub_0002", mark: .table(HubSchema.markTable), knownTable: "hub_registrations",
        postgres: HubSchema.statements.map { $0.text(.postgres) },
        sqlite: HubSchema.statements.map { $0.text(.sqlite) })
}

extension SQLWord {
    static let text = SQLWord(postgres: "text COLLATE \"C\"", sqlite: "TEXT")
    static let integer = SQLWord(postgres: "bigint", sqlite: "INTEGER")
    static let bytes = SQLWord(postgres: "bytea", sqlite: "BLOB")
    static let truth = SQLWord(postgres: "boolean", sqlite: "INTEGER")
    /// An ascending primary key that never reuses a number.
    static let counter = SQLWord(
        postgres: "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
        sqlite: "INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL")
    /// The end of a table of wide rows.
    static let table = SQLWord(postgres: "", sqlite: "STRICT")
    /// The end of a table of narrow rows, which is the tree of its key.
    static let keyed = SQLWord(postgres: "", sqlite: "STRICT, WITHOUT ROWID")
    /// An index of values that are too long for a tree of PostgreSQL, for equality only.
    static let byHash = SQLWord(postgres: "USING hash", sqlite: "")
}
