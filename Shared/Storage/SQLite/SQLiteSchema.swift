import Domain
import GRDB

/// The schema in SQLite. Tables, columns and indexes have the same names in PostgreSQL.
///
/// A table of narrow rows has no row ID: a row is in one tree instead of two, and new keys sort last (UUIDv7), so pages
/// fill up in order. Times are milliseconds since the Unix epoch.
enum SQLiteSchema {
    static let statements = [
        notifications, payloads, answers, deviceReports, outbox, idempotencyKeys, silentPushes, outcomeWatch, devices,
    ]

    /// The only table that the dispatcher touches. The second index covers the inbox query, so a user's inbox is one
    /// contiguous range of it.
    private static let notifications = """
        CREATE TABLE notifications (
            id BLOB PRIMARY KEY NOT NULL,
            sender TEXT NOT NULL,
            recipient TEXT NOT NULL,
            status INTEGER NOT NULL DEFAULT 0,
            presentation INTEGER NOT NULL,
            priority INTEGER,
            attempt INTEGER NOT NULL DEFAULT 0,
            created_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL,
            bounds_push INTEGER NOT NULL DEFAULT 0,
            not_before INTEGER,
            read_at INTEGER,
            revoked_at INTEGER,
            alert_title TEXT,
            alert_body TEXT,
            platforms TEXT,
            collapse_key TEXT,
            traceparent TEXT,
            deliveries TEXT,
            claimed_at INTEGER,
            recorded_attempt INTEGER,
            remind TEXT,
            shown_at INTEGER,
            display INTEGER
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX notifications_sender ON notifications (sender, id);
        CREATE INDEX notifications_recipient ON notifications (
            recipient, id, expires_at, not_before, revoked_at, read_at, created_at
        );
        CREATE INDEX notifications_sender_recipient ON notifications (sender, recipient, id);
        CREATE INDEX notifications_scheduled ON notifications (not_before, id) WHERE not_before IS NOT NULL;
        """

    /// Up to 256 KiB per row, so it has a row ID: the inner pages of the key's tree contain no ciphertext.
    ///
    /// `purge_at` is the time of the next step: while there is ciphertext, its destruction when the notification
    /// expires; afterwards the removal of all rows. Each step has its own index, so that it does not scan the other's
    /// rows. A destroyed payload is NULL.
    private static let payloads = """
        CREATE TABLE payloads (
            notification_id BLOB PRIMARY KEY NOT NULL,
            key_id TEXT NOT NULL,
            sealed BLOB,
            purge_at INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX payloads_to_destroy ON payloads (purge_at) WHERE sealed IS NOT NULL;
        CREATE INDEX payloads_to_forget ON payloads (purge_at) WHERE sealed IS NULL;
        """

    /// A row for each notification that asks for an answer. `challenge` is a fingerprint. The text of the answer is
    /// destroyed at `text_until`; `is_closed` is 1 after the sender has revoked the notification.
    private static let answers = """
        CREATE TABLE answers (
            notification_id BLOB PRIMARY KEY NOT NULL,
            options TEXT NOT NULL,
            challenge BLOB,
            wrong_challenges INTEGER NOT NULL DEFAULT 0,
            is_closed INTEGER NOT NULL DEFAULT 0,
            action TEXT,
            answered_at INTEGER,
            device_id TEXT,
            text_key TEXT,
            text_sealed BLOB,
            text_until INTEGER
        ) STRICT;
        CREATE INDEX answers_to_destroy ON answers (text_until) WHERE text_until IS NOT NULL;
        """

    /// What devices have shown, as they reported it last.
    private static let deviceReports = """
        CREATE TABLE device_reports (
            notification_id BLOB NOT NULL,
            device_id TEXT NOT NULL,
            platform TEXT NOT NULL,
            shown_at INTEGER NOT NULL,
            is_generic INTEGER NOT NULL,
            code TEXT,
            sdk TEXT,
            PRIMARY KEY (notification_id, device_id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX device_reports_generic ON device_reports (shown_at) WHERE is_generic = 1;
        """

    /// A published entry has the maximum `due_at`, so that the sweep of unpublished ones never finds it, and a
    /// `republish_at`. Done follow-ups stay for the status, outside the index; `sent` is the
    /// number of steps of a reminder that a platform has accepted.
    private static let outbox = """
        CREATE TABLE outbox (
            notification_id BLOB PRIMARY KEY NOT NULL,
            due_at INTEGER NOT NULL,
            republish_at INTEGER,
            traceparent TEXT
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX outbox_due ON outbox (due_at);
        CREATE INDEX outbox_published ON outbox (republish_at) WHERE republish_at IS NOT NULL;
        CREATE TABLE follow_ups (
            notification_id BLOB NOT NULL,
            kind INTEGER NOT NULL,
            due_at INTEGER NOT NULL,
            state INTEGER NOT NULL DEFAULT 0,
            attempt INTEGER NOT NULL DEFAULT 0,
            published INTEGER NOT NULL DEFAULT 0,
            step INTEGER NOT NULL DEFAULT 0,
            sent INTEGER NOT NULL DEFAULT 0,
            deliveries TEXT,
            PRIMARY KEY (notification_id, kind)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX follow_ups_due ON follow_ups (due_at) WHERE due_at < 9223372036854775807;
        """

    private static let idempotencyKeys = """
        CREATE TABLE idempotency_keys (
            sender TEXT NOT NULL,
            value TEXT NOT NULL,
            line INTEGER NOT NULL,
            fingerprint BLOB NOT NULL,
            location TEXT,
            body BLOB NOT NULL,
            expires_at INTEGER NOT NULL,
            PRIMARY KEY (sender, value, line)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX idempotency_keys_expiry ON idempotency_keys (expires_at);
        """

    /// The last silent push of each recipient on each platform (`SILENT_PUSH_MIN_INTERVAL`). Rows are read by key.
    private static let silentPushes = """
        CREATE TABLE silent_pushes (
            recipient TEXT NOT NULL,
            platform TEXT NOT NULL,
            turn INTEGER NOT NULL,
            pushed_at INTEGER NOT NULL,
            pushed_id BLOB,
            waiting_id BLOB,
            PRIMARY KEY (recipient, platform)
        ) STRICT, WITHOUT ROWID;
        """

    /// The lease and the places of the process that asks the hub for outcomes: one row.
    private static let outcomeWatch = """
        CREATE TABLE outcome_watch (
            id INTEGER PRIMARY KEY NOT NULL,
            holder INTEGER NOT NULL,
            until INTEGER NOT NULL,
            cursors TEXT NOT NULL
        ) STRICT;
        INSERT INTO outcome_watch (id, holder, until, cursors) VALUES (1, 0, 0, '');
        """
}

/// Creates a schema in a file, or refuses one of another version.
enum SQLiteMigration {
    static func run(
        _ database: any DatabaseWriter, _ schema: StorageSchema, policy: MigrationPolicy
    ) throws -> MigrationReport {
        if try database.read(schema.isCurrent) { return schema.report(isNew: false) }
        if policy == .check { throw SchemaVersion.missing }
        // Exclusive, so that of several processes that start together one creates it.
        let isNew = try database.writeWithoutTransaction { db in
            var isNew = false
            try db.inTransaction(.exclusive) {
                isNew = try !schema.isCurrent(db)
                if isNew { try schema.create(db) }
                return .commit
            }
            return isNew
        }
        return schema.report(isNew: isNew)
    }
}

extension StorageSchema {
    /// Whether the file has the schema; `false` for one without it.
    fileprivate func isCurrent(_ db: Database) throws -> Bool {
        let found =
            switch mark {
            case .ofDatabase: try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
            case .table(let name) where try db.tableExists(name):
                try Int.fetchOne(db, sql: "SELECT max(version) FROM \(name)") ?? 0
            case .table: 0
            }
        if found == version { return true }
        guard found == 0 else { throw refusal(of: found) }
        if case .table = mark {
            // Another program has its own mark; so had hub-emulator before it had these tables.
            guard try Int.fetchOne(db, sql: "PRAGMA application_id") == 0 else { throw Self.foreignFile }
            return false
        }
        // Until schema 17, the steps were listed in this table, and the version was their number.
        guard try db.tableExists("grdb_migrations") else { return false }
        throw refusal(of: try Int.fetchOne(db, sql: "SELECT count(*) FROM grdb_migrations") ?? 0)
    }

    private static let foreignFile = StorageError(
        .invalid, "The file is of another program, or of an earlier hub-emulator. Name another file, or remove it.")

    func create(_ db: Database) throws {
        for sql in sqlite { try db.execute(sql: sql) }
        switch mark {
        case .ofDatabase: try db.execute(sql: "PRAGMA user_version = \(version)")
        case .table(let table):
            try db.execute(
                sql: """
                    CREATE TABLE \(table) (
                        version INTEGER PRIMARY KEY NOT NULL,
                        name TEXT NOT NULL,
                        applied_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
                    ) STRICT
                    """)
            try db.execute(sql: "INSERT INTO \(table) (version, name) VALUES (?, ?)", arguments: [version, name])
        }
    }
}
