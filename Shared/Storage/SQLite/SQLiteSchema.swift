import GRDB
import SecurePushCore

/// The schema as migrations. A migration that has shipped never changes. Names are those of the PostgreSQL schema.
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
        migrator.registerMigration("010-follow-ups") { db in try db.execute(sql: followUps) }
        migrator.registerMigration("011-silent-pushes") { db in try db.execute(sql: silentPushes) }
        migrator.registerMigration("012-reading") { db in try db.execute(sql: reading) }
        migrator.registerMigration("013-device-life") { db in try db.execute(sql: deviceLife) }
        migrator.registerMigration("014-sent-reminders") { db in try db.execute(sql: sentReminders) }
        migrator.registerMigration("015-encryption-keys") { db in try db.execute(sql: encryptionKeys) }
        migrator.registerMigration("016-outcomes") { db in try db.execute(sql: outcomes) }
        migrator.registerMigration("017-device-places") { db in try db.execute(sql: devicePlaces) }
        migrator.registerMigration("018-replaced-tokens") { db in try db.execute(sql: replacedTokens) }
        return migrator
    }

    /// The `due_at` of a published entry, so that the sweep of unpublished entries never finds it, not even that of the
    /// previous version.
    static let never = Int64.max

    /// Narrow, and the only table that the dispatcher touches. Without a row ID, a row is in one tree instead of two;
    /// new keys sort last (UUIDv7), so pages fill up in order. Times are milliseconds since the Unix epoch.
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

    /// Wide (up to 256 KiB per row), so it has a row ID: the inner pages of the key's tree contain no ciphertext.
    private static let payloads = """
        CREATE TABLE payloads (
            notification_id BLOB PRIMARY KEY NOT NULL,
            key_id TEXT NOT NULL,
            sealed BLOB NOT NULL
        ) STRICT
        """

    /// The index contains the key too, like every index of a table without row ID: leases read it in order.
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

    /// The value of `payloads.key_id` after the ciphertext was destroyed: no key has an empty name.
    static let destroyed = ""

    /// The second index covers the inbox query, so a user's inbox is one contiguous range of it.
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

    /// `purge_at` is the time of the next step: while there is ciphertext, its destruction when the notification
    /// expires; afterwards the removal of all rows. Each step has its own index, so that it does not scan the other's
    /// rows.
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

    /// Wide (documents with templates), so it has a row ID.
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

    /// A published entry has a `republish_at`, which is NULL in every row that the previous version writes. No row is
    /// rewritten: an unknown `recorded_attempt` is derived from `deliveries`.
    private static let redelivery = """
        ALTER TABLE outbox ADD COLUMN republish_at INTEGER;
        CREATE INDEX outbox_published ON outbox (republish_at) WHERE republish_at IS NOT NULL;
        ALTER TABLE notifications ADD COLUMN claimed_at INTEGER;
        ALTER TABLE notifications ADD COLUMN recorded_attempt INTEGER;
        """

    /// For a sender's list of one recipient.
    private static let senderRecipient = """
        CREATE INDEX notifications_sender_recipient ON notifications (sender, recipient, id);
        """

    /// For the hub, IDs that differ only in case are one device, with the document that was saved last. So of such rows
    /// only the newest is kept. Devices of previous versions have no `new_handle_at`: their handles count as known to
    /// both the hub and this store.
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

    /// Rows of `outbox` cannot hold this work: a process of the previous version removes the row of a notification that
    /// is final. Done follow-ups stay for the status, outside the index.
    private static let followUps = """
        ALTER TABLE notifications ADD COLUMN remind TEXT;
        CREATE TABLE follow_ups (
            notification_id BLOB NOT NULL,
            kind INTEGER NOT NULL,
            due_at INTEGER NOT NULL,
            state INTEGER NOT NULL DEFAULT 0,
            attempt INTEGER NOT NULL DEFAULT 0,
            published INTEGER NOT NULL DEFAULT 0,
            step INTEGER NOT NULL DEFAULT 0,
            deliveries TEXT,
            PRIMARY KEY (notification_id, kind)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX follow_ups_due ON follow_ups (due_at) WHERE due_at < 9223372036854775807;
        """

    /// The last silent push of each recipient on each platform (`SILENT_PUSH_MIN_INTERVAL`). Rows are read by key.
    private static let silentPushes = """
        CREATE TABLE silent_pushes (
            recipient TEXT NOT NULL COLLATE BINARY,
            platform TEXT NOT NULL COLLATE BINARY,
            turn INTEGER NOT NULL,
            pushed_at INTEGER NOT NULL,
            pushed_id BLOB,
            waiting_id BLOB,
            PRIMARY KEY (recipient, platform)
        ) STRICT, WITHOUT ROWID
        """

    /// When a device first showed a notification. No row is rewritten.
    private static let reading = "ALTER TABLE notifications ADD COLUMN shown_at INTEGER"

    /// The number of steps of a reminder (kind 2) that a platform has accepted. Until now the status showed the
    /// claimed ones. A dispatcher of the previous version does not count.
    private static let sentReminders = """
        ALTER TABLE follow_ups ADD COLUMN sent INTEGER NOT NULL DEFAULT 0;
        UPDATE follow_ups SET sent = step WHERE kind = 2 AND step > 0;
        """

    /// The attempt that was recorded last.
    ///
    /// - Parameter newest: the newest possible attempt, for a row of the previous version, which has no such column.
    static func recordedAttempt(_ newest: String) -> String {
        "coalesce(recorded_attempt, CASE WHEN deliveries IS NULL THEN 0 ELSE \(newest) END)"
    }
}

/// Migrates a file to the schema of this program, or refuses it.
enum SQLiteMigration {
    static let needed = StorageError(
        .migrationNeeded, "The database does not have the current schema. Run `securepush migrate`.")
    private static let tooNew = StorageError(
        .migrationNeeded, "A newer version has migrated the database. Run that version.")

    static func run(_ database: any DatabaseWriter, policy: MigrationPolicy) throws -> MigrationReport {
        let migrator = SQLiteSchema.migrator
        let before = try database.read { db in
            if try migrator.hasBeenSuperseded(db) { throw tooNew }
            return try migrator.completedMigrations(db)
        }
        if before.count < migrator.migrations.count {
            if policy == .check { throw needed }
            try migrate(database, migrator)
        }
        return MigrationReport(
            applied: Array(migrator.migrations.dropFirst(before.count)), version: migrator.migrations.count)
    }

    /// Each migration is a transaction. One that another process runs at the same time fails here, but is applied.
    private static func migrate(_ database: any DatabaseWriter, _ migrator: DatabaseMigrator) throws {
        var done = -1
        while true {
            do {
                return try migrator.migrate(database)
            } catch {
                let now = try database.read { db in try migrator.completedMigrations(db).count }
                if now <= done { throw error }
                done = now
            }
        }
    }
}
