/// The schema in PostgreSQL, as numbered steps that are each applied once and never changed afterwards.
struct PostgresMigration: Sendable {
    let version: Int
    let name: String
    let statements: [String]

    static let all = [initial]

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
}
