import GRDB

/// The tables, step by step. A step that has shipped is never changed; names are those of the PostgreSQL schema.
enum SQLiteSchema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("001-notifications") { db in
            try db.execute(sql: notifications)
            try db.execute(sql: payloads)
        }
        migrator.registerMigration("002-outbox") { db in try db.execute(sql: outbox) }
        migrator.registerMigration("003-registrations") { db in try db.execute(sql: registrations) }
        return migrator
    }

    /// Narrow, and all that the dispatcher touches. Without a row ID, for then a row is in one tree instead of two; new
    /// keys sort last (UUIDv7), so that pages fill up in order. Times are milliseconds since the Unix epoch.
    private static let notifications = """
        CREATE TABLE notifications (
            id BLOB PRIMARY KEY NOT NULL,
            sender TEXT NOT NULL,
            recipient TEXT NOT NULL COLLATE BINARY,
            status INTEGER NOT NULL DEFAULT 0,
            created_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL,
            bounds_push INTEGER NOT NULL DEFAULT 0,
            not_before INTEGER,
            read_at INTEGER,
            revoked_at INTEGER,
            presentation INTEGER NOT NULL,
            alert_title TEXT,
            alert_body TEXT,
            platforms TEXT,
            collapse_key TEXT,
            priority TEXT,
            traceparent TEXT,
            attempt INTEGER NOT NULL DEFAULT 0,
            deliveries TEXT
        ) STRICT, WITHOUT ROWID
        """

    /// Wide (up to 256 KiB a row), so with a row ID: the inner pages of the key's tree stay free of ciphertext.
    private static let payloads = """
        CREATE TABLE payloads (
            notification_id BLOB PRIMARY KEY NOT NULL,
            key_id TEXT NOT NULL,
            sealed BLOB NOT NULL
        ) STRICT
        """

    /// The index carries the key as well, as every index of a table without row ID does: leases read it in order.
    private static let outbox = """
        CREATE TABLE outbox (
            notification_id BLOB PRIMARY KEY NOT NULL,
            due_at INTEGER NOT NULL,
            traceparent TEXT
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX outbox_due_at ON outbox (due_at);
        """

    private static let registrations = """
        CREATE TABLE registrations (
            id TEXT PRIMARY KEY NOT NULL COLLATE BINARY,
            owner TEXT NOT NULL COLLATE BINARY,
            platform TEXT,
            handle TEXT COLLATE BINARY,
            updated_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX registrations_handle ON registrations (handle);
        """
}
