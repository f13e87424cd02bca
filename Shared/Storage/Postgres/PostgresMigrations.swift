/// The schema in PostgreSQL as numbered migrations. Each is applied once, and never changes after it has shipped.
struct PostgresMigration: Sendable {
    let version: Int
    let name: String
    let statements: [String]

    static let all = [
        initial, senderSide, redelivery, senderRecipient, devices, followUps, silentPushes, reading, deviceLife,
        sentReminders, encryptionKeys, roomForUpdates, outcomes, devicePlaces,
        deviceLimit, replacedTokens,
    ]

    // No foreign keys: each would cost the most frequent statements a lookup and a row lock in another table, and all
    // three tables are only written together. Statuses change in the narrow table, as HOT updates (free space on the
    // page, no index on changing columns). Payloads are in a wide table that dispatching never reads; as ciphertext
    // they are not compressed. Outbox rows are short-lived, so the table is vacuumed often. Names are compared byte by
    // byte.
    private static let initial = PostgresMigration(
        version: 1, name: "0001_initial",
        statements: [
            """
            CREATE TABLE notifications (
                id uuid PRIMARY KEY,
                sender text NOT NULL,
                recipient text COLLATE "C" NOT NULL,
                status smallint NOT NULL DEFAULT 0,
                presentation smallint NOT NULL,
                priority smallint,
                attempt integer NOT NULL DEFAULT 0,
                created_at bigint NOT NULL,
                expires_at bigint NOT NULL,
                bounds_push smallint NOT NULL DEFAULT 0,
                not_before bigint,
                read_at bigint,
                revoked_at bigint,
                alert_title text,
                alert_body text,
                platforms text,
                collapse_key text,
                traceparent text,
                deliveries text
            ) WITH (fillfactor = 70)
            """,
            """
            CREATE TABLE payloads (
                notification_id uuid PRIMARY KEY,
                key_id text NOT NULL,
                sealed bytea NOT NULL
            )
            """,
            "ALTER TABLE payloads ALTER COLUMN sealed SET STORAGE EXTERNAL",
            """
            CREATE TABLE outbox (
                notification_id uuid PRIMARY KEY,
                due_at bigint NOT NULL,
                traceparent text
            ) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000)
            """,
            "CREATE INDEX outbox_due ON outbox (due_at)",
            """
            CREATE TABLE registrations (
                id text COLLATE "C" PRIMARY KEY,
                owner text COLLATE "C" NOT NULL,
                platform text,
                handle text COLLATE "C",
                updated_at bigint NOT NULL
            )
            """,
            "CREATE INDEX registrations_handle ON registrations USING hash (handle)",
        ])

    // The new indexes of `notifications` contain no column that ever changes, so updates stay HOT. Senders are compared
    // byte by byte like all names; no index contains them yet, so changing their collation only changes the catalog.
    // Destroyed payloads are NULL and have their own index, so that destroying and removing do not scan each other's
    // rows. `purge_at` may be NULL, because processes of the previous version may still be writing. A destroyed payload
    // stays on the disk until the table is vacuumed, so that happens often; keys are short-lived like outbox rows.
    private static let senderSide = PostgresMigration(
        version: 2, name: "0002_sender_side",
        statements: [
            """
            CREATE TABLE idempotency_keys (
                sender text COLLATE "C" NOT NULL,
                key text COLLATE "C" NOT NULL,
                line integer NOT NULL,
                holder uuid NOT NULL,
                taken_at bigint NOT NULL,
                expires_at bigint NOT NULL,
                fingerprint bytea NOT NULL,
                location text,
                body bytea NOT NULL,
                PRIMARY KEY (sender, key, line)
            ) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000)
            """,
            "CREATE INDEX idempotency_keys_expiry ON idempotency_keys (expires_at)",
            "ALTER TABLE notifications ALTER COLUMN sender TYPE text COLLATE \"C\"",
            "CREATE INDEX notifications_sender ON notifications (sender, id)",
            "CREATE INDEX notifications_recipient ON notifications (recipient, id)",
            "ALTER TABLE payloads ADD COLUMN purge_at bigint, ALTER COLUMN sealed DROP NOT NULL",
            """
            UPDATE payloads SET purge_at = notifications.expires_at
            FROM notifications WHERE notifications.id = payloads.notification_id
            """,
            "CREATE INDEX payloads_to_destroy ON payloads (purge_at) WHERE sealed IS NOT NULL",
            "CREATE INDEX payloads_to_forget ON payloads (purge_at) WHERE sealed IS NULL",
            """
            ALTER TABLE payloads SET (
                autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
                toast.autovacuum_vacuum_scale_factor = 0.02, toast.autovacuum_vacuum_threshold = 1000)
            """,
            "ALTER TABLE registrations ADD COLUMN tags text NOT NULL DEFAULT '[]'",
            "CREATE INDEX registrations_owner ON registrations (owner, platform)",
            """
            CREATE TABLE installations (
                id text COLLATE "C" PRIMARY KEY,
                owner text COLLATE "C" NOT NULL,
                platform text NOT NULL,
                handle text COLLATE "C" NOT NULL,
                document bytea NOT NULL,
                updated_at bigint NOT NULL
            )
            """,
            "CREATE INDEX installations_owner ON installations (owner, platform)",
            "CREATE INDEX installations_handle ON installations USING hash (handle)",
        ])

    // Processes of the previous version can run beside this one: a published entry has the maximum `due_at`, so their
    // sweep never finds it, and a `republish_at`, which is NULL in every row that they write. So no row is rewritten
    // here, and an entry that is never published costs no second index. Neither new column of `notifications` is in an
    // index, so updates stay HOT; an unknown `recorded_attempt` is derived from `deliveries`.
    private static let redelivery = PostgresMigration(
        version: 3, name: "0003_redelivery",
        statements: [
            "ALTER TABLE outbox ADD COLUMN republish_at bigint",
            "CREATE INDEX outbox_published ON outbox (republish_at) WHERE republish_at IS NOT NULL",
            "ALTER TABLE notifications ADD COLUMN claimed_at bigint, ADD COLUMN recorded_attempt integer",
        ])

    // For a sender's list of one recipient, which must not scan rows of other senders. The columns of the index never
    // change, so updates of a notification stay HOT.
    private static let senderRecipient = PostgresMigration(
        version: 4, name: "0004_sender_recipient",
        statements: ["CREATE INDEX notifications_sender_recipient ON notifications (sender, recipient, id)"])

    // Rows of `outbox` cannot hold this work: a process of the previous version removes the row of a notification that
    // is final. Done follow-ups stay for the status, outside the index. The new column of `notifications` is constant.
    private static let followUps = PostgresMigration(
        version: 6, name: "0006_follow_ups",
        statements: [
            "ALTER TABLE notifications ADD COLUMN remind bigint[]",
            """
            CREATE TABLE follow_ups (
                notification_id uuid NOT NULL,
                kind smallint NOT NULL,
                due_at bigint NOT NULL,
                state smallint NOT NULL DEFAULT 0,
                attempt integer NOT NULL DEFAULT 0,
                published smallint NOT NULL DEFAULT 0,
                step smallint NOT NULL DEFAULT 0,
                remind bigint[],
                deliveries text,
                PRIMARY KEY (notification_id, kind)
            ) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000)
            """,
            "CREATE INDEX follow_ups_due ON follow_ups (due_at) WHERE due_at < 9223372036854775807",
        ])

    // For the hub, IDs that differ only in case are one device, with the document that was saved last. So of such rows
    // only the newest is kept. The tables are locked first, so that no process of the previous version adds such a row
    // meanwhile. Devices of previous versions have no `new_handle_at`: their handles count as known to both the hub and
    // this store.
    private static let devices = PostgresMigration(
        version: 5, name: "0005_devices",
        statements: [
            "LOCK TABLE installations, registrations IN SHARE ROW EXCLUSIVE MODE",
            """
            DELETE FROM installations AS older USING installations AS newer
            WHERE lower(newer.id) = lower(older.id)
                AND (newer.updated_at, newer.id) > (older.updated_at, older.id)
            """,
            """
            DELETE FROM registrations AS older USING registrations AS newer
            WHERE lower(newer.id) = lower(older.id)
                AND (newer.updated_at, newer.id) > (older.updated_at, older.id)
            """,
            "CREATE UNIQUE INDEX installations_id ON installations (lower(id))",
            "CREATE UNIQUE INDEX registrations_id ON registrations (lower(id))",
            "ALTER TABLE installations ADD COLUMN new_handle_at bigint",
            "ALTER TABLE registrations ADD COLUMN new_handle_at bigint",
            "CREATE INDEX installations_new_handle ON installations (new_handle_at) WHERE new_handle_at IS NOT NULL",
            "CREATE INDEX registrations_new_handle ON registrations (new_handle_at) WHERE new_handle_at IS NOT NULL",
            """
            CREATE TABLE device_leases (
                kind smallint NOT NULL,
                key text COLLATE "C" NOT NULL,
                id text COLLATE "C" NOT NULL,
                token bigint NOT NULL,
                until bigint NOT NULL,
                claimant text COLLATE "C",
                PRIMARY KEY (kind, key)
            ) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000)
            """,
            "CREATE INDEX device_leases_until ON device_leases (until)",
            "CREATE INDEX device_leases_claimant ON device_leases (claimant) WHERE claimant IS NOT NULL",
        ])

    // The last silent push of each recipient on each platform (SILENT_PUSH_MIN_INTERVAL). Rows are read by their key
    // only, so updates stay HOT.
    private static let silentPushes = PostgresMigration(
        version: 7, name: "0007_silent_pushes",
        statements: [
            """
            CREATE TABLE silent_pushes (
                recipient text COLLATE "C" NOT NULL,
                platform text COLLATE "C" NOT NULL,
                turn bigint NOT NULL,
                pushed_at bigint NOT NULL,
                pushed_id uuid,
                waiting_id uuid,
                PRIMARY KEY (recipient, platform)
            ) WITH (fillfactor = 70)
            """
        ])

    // No index contains the new column, so updates stay HOT. Adding it rewrites no row.
    private static let reading = PostgresMigration(
        version: 8, name: "0008_reading", statements: ["ALTER TABLE notifications ADD COLUMN shown_at bigint"])

    // The number of steps of a reminder (kind 2) that a platform has accepted. Until now the status showed the
    // claimed ones. A dispatcher of the previous version does not count. No index contains the column.
    private static let sentReminders = PostgresMigration(
        version: 10, name: "0010_sent_reminders",
        statements: [
            "ALTER TABLE follow_ups ADD COLUMN sent smallint NOT NULL DEFAULT 0",
            "UPDATE follow_ups SET sent = step WHERE kind = 2 AND step > 0",
        ])

    private static let encryptionKeys = PostgresMigration(
        version: 11, name: "0011_encryption_keys",
        statements: ["ALTER TABLE installations ADD COLUMN encryption_key bytea, ADD COLUMN encryption_key_at bigint"])

    // It replaced a function, which is gone.
    private static let deviceLimit = PostgresMigration(version: 15, name: "0015_device_limit", statements: [])

    // Dispatchers change all rows of a page in one statement, and the new versions are twice as long, because of the
    // deliveries. A page that is 30 % full has room for the second version of every row, and for later ones once it is
    // pruned, so most updates are HOT. At 70 % a third of them went to other pages, with an entry in each of four
    // indexes, and the table became larger than it is now. Only new pages are filled less; no row is rewritten.
    private static let roomForUpdates = PostgresMigration(
        version: 12, name: "0012_room_for_updates",
        statements: ["ALTER TABLE notifications SET (fillfactor = 30)"])
}
