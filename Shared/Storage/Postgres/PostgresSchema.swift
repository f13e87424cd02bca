/// The schema in PostgreSQL. Tables, columns and indexes have the same names in SQLite, and their meanings are in
/// docs/reference/database-schema.md.
///
/// No foreign keys: each would cost the most frequent statements a lookup and a row lock in another table, and these
/// tables are only written together. Names are compared byte by byte. Times are milliseconds since the Unix epoch.
///
/// Decision: docs/decisions/0014-one-postgresql-statement-per-frequent-operation.md
enum PostgresSchema {
    static let statements =
        notifications + payloads + answers + deviceReports + outbox + followUps + idempotencyKeys + [silentPushes]
        + outcomeWatch
        + devices + deviceLeases + refreshTokens

    // Statuses change here, as HOT updates: no column that changes is in an index, and a page has room for the new
    // versions of its rows. Dispatchers change all rows of a page in one statement, and the new versions are twice as
    // long, because of the deliveries. A page that is 30 % full has room for the second version of every row, and for
    // later ones once it is pruned. At 70 % a third of them went to other pages, with an entry in each of four indexes,
    // and the table became larger than it is now.
    private static let notifications = [
        """
        CREATE TABLE notifications (
            id uuid PRIMARY KEY,
            sender text COLLATE "C" NOT NULL,
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
            deliveries text,
            claimed_at bigint,
            recorded_attempt integer,
            remind text,
            shown_at bigint,
            display smallint
        ) WITH (fillfactor = 30)
        """,
        "CREATE INDEX notifications_sender ON notifications (sender, id)",
        "CREATE INDEX notifications_recipient ON notifications (recipient, id)",
        "CREATE INDEX notifications_sender_recipient ON notifications (sender, recipient, id)",
        "CREATE INDEX notifications_scheduled ON notifications (not_before, id) WHERE not_before IS NOT NULL",
    ]

    // A wide table that dispatching never reads; as ciphertext the values are not compressed. `purge_at` is the time of
    // the next step: while there is ciphertext, its destruction when the notification expires; afterwards the removal
    // of all rows. Each step has its own index, so that it does not scan the other's rows. A destroyed payload is NULL,
    // and stays on the disk until the table is vacuumed, so that happens often.
    private static let payloads = [
        """
        CREATE TABLE payloads (
            notification_id uuid PRIMARY KEY,
            key_id text NOT NULL,
            sealed bytea,
            purge_at bigint NOT NULL
        ) WITH (
            autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
            toast.autovacuum_vacuum_scale_factor = 0.02, toast.autovacuum_vacuum_threshold = 1000
        )
        """,
        "ALTER TABLE payloads ALTER COLUMN sealed SET STORAGE EXTERNAL",
        "CREATE INDEX payloads_to_destroy ON payloads (purge_at) WHERE sealed IS NOT NULL",
        "CREATE INDEX payloads_to_forget ON payloads (purge_at) WHERE sealed IS NULL",
    ]

    // A row for each notification that asks for an answer. `challenge` is a fingerprint. The text of the answer is
    // destroyed at `text_until`; `is_closed` is 1 after the sender has revoked the notification.
    private static let answers = [
        """
        CREATE TABLE answers (
            notification_id uuid PRIMARY KEY,
            options text NOT NULL,
            challenge bytea,
            wrong_challenges smallint NOT NULL DEFAULT 0,
            is_closed smallint NOT NULL DEFAULT 0,
            action text,
            answered_at bigint,
            device_id text,
            text_key text,
            text_sealed bytea,
            text_until bigint
        ) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000)
        """,
        "CREATE INDEX answers_to_destroy ON answers (text_until) WHERE text_until IS NOT NULL",
    ]

    // What devices have shown, as they reported it last.
    private static let deviceReports = [
        """
        CREATE TABLE device_reports (
            notification_id uuid NOT NULL,
            device_id text COLLATE "C" NOT NULL,
            platform text NOT NULL,
            shown_at bigint NOT NULL,
            is_generic smallint NOT NULL,
            code text,
            sdk text,
            PRIMARY KEY (notification_id, device_id)
        ) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000)
        """,
        "CREATE INDEX device_reports_generic ON device_reports (shown_at) WHERE is_generic = 1",
    ]

    // Rows are short-lived, so the table is vacuumed often. A published entry has the maximum `due_at`, so that the
    // sweep of unpublished ones never finds it, and a `republish_at`. An entry that is never published costs no second
    // index.
    private static let outbox = [
        """
        CREATE TABLE outbox (
            notification_id uuid PRIMARY KEY,
            due_at bigint NOT NULL,
            republish_at bigint,
            traceparent text
        ) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000)
        """,
        "CREATE INDEX outbox_due ON outbox (due_at)",
        "CREATE INDEX outbox_published ON outbox (republish_at) WHERE republish_at IS NOT NULL",
    ]

    // Done follow-ups stay for the status, outside the index. `sent` is the number of steps of a reminder that a
    // platform has accepted.
    private static let followUps = [
        """
        CREATE TABLE follow_ups (
            notification_id uuid NOT NULL,
            kind smallint NOT NULL,
            due_at bigint NOT NULL,
            state smallint NOT NULL DEFAULT 0,
            attempt integer NOT NULL DEFAULT 0,
            published smallint NOT NULL DEFAULT 0,
            step smallint NOT NULL DEFAULT 0,
            sent smallint NOT NULL DEFAULT 0,
            remind bigint[],
            deliveries text,
            PRIMARY KEY (notification_id, kind)
        ) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000)
        """,
        "CREATE INDEX follow_ups_due ON follow_ups (due_at) WHERE due_at < 9223372036854775807",
    ]

    private static let idempotencyKeys = [
        """
        CREATE TABLE idempotency_keys (
            sender text COLLATE "C" NOT NULL,
            value text COLLATE "C" NOT NULL,
            line integer NOT NULL,
            holder uuid NOT NULL,
            taken_at bigint NOT NULL,
            expires_at bigint NOT NULL,
            fingerprint bytea NOT NULL,
            location text,
            body bytea NOT NULL,
            PRIMARY KEY (sender, value, line)
        ) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000)
        """,
        "CREATE INDEX idempotency_keys_expiry ON idempotency_keys (expires_at)",
    ]

    // The last silent push of each recipient on each platform (SILENT_PUSH_MIN_INTERVAL). Rows are read by their key
    // only, so updates stay HOT.
    private static let silentPushes = """
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

    // The lease and the places of the process that asks the hub for outcomes: one row.
    private static let outcomeWatch = [
        """
        CREATE TABLE outcome_watch (
            id smallint PRIMARY KEY,
            holder bigint NOT NULL,
            until bigint NOT NULL,
            cursors text NOT NULL
        )
        """,
        "INSERT INTO outcome_watch (id, holder, until, cursors) VALUES (1, 0, 0, '')",
    ]
}
