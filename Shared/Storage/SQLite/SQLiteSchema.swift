import GRDB
import SecurePushCore

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
        migrator.registerMigration("004-senders") { db in
            try db.execute(sql: notificationIndexes)
            try db.execute(sql: idempotencyKeys)
        }
        migrator.registerMigration("005-retention") { db in try db.execute(sql: retention) }
        migrator.registerMigration("006-devices") { db in
            try db.execute(sql: tags)
            try db.execute(sql: installations)
        }
        migrator.registerMigration("007-redelivery") { db in try db.execute(sql: redelivery) }
        migrator.registerMigration("008-sender-recipient") { db in try db.execute(sql: senderRecipient) }
        migrator.registerMigration("009-devices") { db in try db.execute(sql: devices) }
        return migrator
    }

    /// In `due_at` of an entry that is published: there the unpublished ones' sweep, also that of a process of the
    /// version before, never comes to it.
    static let never = Int64.max

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

    /// What stands in `payloads.key_id` once the ciphertext is destroyed: no key has an empty name.
    static let destroyed = ""

    /// The second holds all that an inbox is made of, so that a user's inbox is read off one stretch of it.
    private static let notificationIndexes = """
        CREATE INDEX notifications_sender ON notifications (sender, id);
        CREATE INDEX notifications_recipient ON notifications (
            recipient, id, expires_at, not_before, revoked_at, read_at, created_at
        );
        """

    private static let idempotencyKeys = """
        CREATE TABLE idempotency_keys (
            sender TEXT NOT NULL COLLATE BINARY,
            value TEXT NOT NULL COLLATE BINARY,
            line INTEGER NOT NULL,
            fingerprint BLOB NOT NULL,
            location TEXT,
            body BLOB NOT NULL,
            expires_at INTEGER NOT NULL,
            PRIMARY KEY (sender, value, line)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX idempotency_keys_expires_at ON idempotency_keys (expires_at);
        """

    /// `purge_at` is when the next thing is to be done: while there is ciphertext, its destruction at the
    /// notification's expiry; afterwards the removal of all rows. One index for each, so that neither reads past the
    /// other's rows.
    private static let retention = """
        ALTER TABLE payloads ADD COLUMN purge_at INTEGER;
        UPDATE payloads SET purge_at = (SELECT expires_at FROM notifications WHERE id = notification_id);
        CREATE INDEX payloads_expiring ON payloads (purge_at) WHERE key_id <> '';
        CREATE INDEX payloads_destroyed ON payloads (purge_at) WHERE key_id = '';
        """

    private static let tags = """
        ALTER TABLE registrations ADD COLUMN tags TEXT;
        CREATE INDEX registrations_owner ON registrations (owner, platform);
        """

    /// Wide (documents with templates), so with a row ID.
    private static let installations = """
        CREATE TABLE installations (
            id TEXT PRIMARY KEY NOT NULL COLLATE BINARY,
            owner TEXT NOT NULL COLLATE BINARY,
            platform TEXT NOT NULL,
            handle TEXT NOT NULL COLLATE BINARY,
            updated_at INTEGER NOT NULL,
            document BLOB NOT NULL
        ) STRICT;
        CREATE INDEX installations_handle ON installations (handle, id);
        CREATE INDEX installations_owner ON installations (owner, platform);
        """

    /// A published entry is told by `republish_at`, which is NULL in every row that a process of the version before
    /// writes. No row is rewritten: an unknown `recorded_attempt` is read off `deliveries`.
    private static let redelivery = """
        ALTER TABLE outbox ADD COLUMN republish_at INTEGER;
        CREATE INDEX outbox_published ON outbox (republish_at) WHERE republish_at IS NOT NULL;
        ALTER TABLE notifications ADD COLUMN claimed_at INTEGER;
        ALTER TABLE notifications ADD COLUMN recorded_attempt INTEGER;
        """

    /// For a sender's list by recipient.
    private static let senderRecipient = """
        CREATE INDEX notifications_sender_recipient ON notifications (sender, recipient, id);
        """

    /// IDs that differ in case only are one device at the hub, which has the document that was put last. So of such
    /// rows the newest stays. Devices of the versions before have no `new_handle_at`: their handles count as known to
    /// the hub and here.
    private static let devices = """
        CREATE INDEX installations_folded ON installations (id COLLATE NOCASE);
        DELETE FROM installations WHERE EXISTS (
            SELECT 1 FROM installations AS newer WHERE newer.id = installations.id COLLATE NOCASE
            AND (newer.updated_at, newer.id) > (installations.updated_at, installations.id));
        DROP INDEX installations_folded;
        CREATE UNIQUE INDEX installations_id ON installations (id COLLATE NOCASE);
        CREATE INDEX registrations_folded ON registrations (id COLLATE NOCASE);
        DELETE FROM registrations WHERE EXISTS (
            SELECT 1 FROM registrations AS newer WHERE newer.id = registrations.id COLLATE NOCASE
            AND (newer.updated_at, newer.id) > (registrations.updated_at, registrations.id));
        DROP INDEX registrations_folded;
        CREATE UNIQUE INDEX registrations_id ON registrations (id COLLATE NOCASE);
        ALTER TABLE installations ADD COLUMN new_handle_at INTEGER;
        ALTER TABLE registrations ADD COLUMN new_handle_at INTEGER;
        CREATE INDEX installations_new_handle ON installations (new_handle_at) WHERE new_handle_at IS NOT NULL;
        CREATE INDEX registrations_new_handle ON registrations (new_handle_at) WHERE new_handle_at IS NOT NULL;
        CREATE TABLE device_leases (
            kind INTEGER NOT NULL,
            id TEXT NOT NULL COLLATE NOCASE,
            token INTEGER NOT NULL,
            until INTEGER NOT NULL,
            claimant TEXT COLLATE BINARY,
            PRIMARY KEY (kind, id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX device_leases_until ON device_leases (until);
        CREATE INDEX device_leases_claimant ON device_leases (claimant) WHERE claimant IS NOT NULL;
        """

    /// The attempt that was recorded last.
    ///
    /// - Parameter newest: the newest that may have been, for a row of the version before, which does not say.
    static func recordedAttempt(_ newest: String) -> String {
        "coalesce(recorded_attempt, CASE WHEN deliveries IS NULL THEN 0 ELSE \(newest) END)"
    }
}

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
