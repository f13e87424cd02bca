/// The schema in PostgreSQL, as numbered steps that are each applied once and never changed afterwards.
struct PostgresMigration: Sendable {
    let version: Int
    let name: String
    let statements: [String]

    static let all = [initial, senderSide, redelivery, senderRecipient, devices]

    // No foreign keys: each would cost the hottest statements a look-up and a row lock in another table, and all three
    // tables are only written together. Statuses change in the narrow table, in place (HOT: room on the page, and no
    // index on what changes); payloads are in a wide one that dispatching never reads. They are ciphertext, so no
    // compression is tried. Outbox rows come and go, so it is vacuumed often. Names are compared byte for byte.
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

    // The new indexes of `notifications` hold nothing that ever changes, so changes stay HOT. Senders are compared byte
    // for byte like all names; no index holds them yet, so their collation is a matter of the catalog alone. Payloads
    // that were destroyed are NULL, and in an index of their own, so that those to be destroyed and those to be
    // forgotten never stand in each other's way.
    // `purge_at` may be NULL, for processes of the version before may still be writing. A payload that was destroyed is
    // on the disk until the table is vacuumed, so that happens often; keys come and go like outbox rows.
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

    // Processes of the version before go on beside it: a published entry has the end of time in `due_at`, where their
    // sweep never comes to it, and is told by `republish_at`, which is NULL in every row that they write. So no row is
    // rewritten here, and an entry that is never published costs no second index. Both columns of `notifications` are
    // in no index, so changes stay HOT; an unknown `recorded_attempt` is read off `deliveries`.
    private static let redelivery = PostgresMigration(
        version: 3, name: "0003_redelivery",
        statements: [
            "ALTER TABLE outbox ADD COLUMN republish_at bigint",
            "CREATE INDEX outbox_published ON outbox (republish_at) WHERE republish_at IS NOT NULL",
            "ALTER TABLE notifications ADD COLUMN claimed_at bigint, ADD COLUMN recorded_attempt integer",
        ])
    // For a sender's list by recipient, which must not meet the rows of other senders. The columns of the index never
    // change, so changes of a notification stay HOT.
    private static let senderRecipient = PostgresMigration(
        version: 4, name: "0004_sender_recipient",
        statements: ["CREATE INDEX notifications_sender_recipient ON notifications (sender, recipient, id)"])

    // IDs that differ in case only are one device at the hub, which has the document that was put last. So of such rows
    // the newest stays. The tables are locked before, so that no process of the version before adds such a row between.
    // Devices of the versions before have no `new_handle_at`: their handles count as known to the hub and here.
    //
    // The functions lock a device's ID first, and a claim the user's name before that. Statements of a function see
    // what was committed before they began, not before the call began, so after the lock they see the latest state.
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
        ] + PostgresDeviceFunctions.all)
}
