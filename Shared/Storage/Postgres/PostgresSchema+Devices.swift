extension PostgresSchema {
    // For the hub, IDs that differ only in case are one device. `new_handle_at` is when to ask the hub about a handle.
    // The index of owners and IDs is for a user's list: a user's rows are few, but without it the planner could walk
    // through all IDs instead. The key of an installation is in its row, so it goes with the row, whoever deletes it.
    static let devices = [
        """
        CREATE TABLE registrations (
            id text COLLATE "C" PRIMARY KEY,
            owner text COLLATE "C" NOT NULL,
            platform text,
            handle text COLLATE "C",
            tags text NOT NULL DEFAULT '[]',
            updated_at bigint NOT NULL,
            new_handle_at bigint
        )
        """,
        "CREATE UNIQUE INDEX registrations_id ON registrations (lower(id))",
        "CREATE INDEX registrations_handle ON registrations USING hash (handle)",
        "CREATE INDEX registrations_owner ON registrations (owner, platform)",
        "CREATE INDEX registrations_seen ON registrations (updated_at)",
        "CREATE INDEX registrations_new_handle ON registrations (new_handle_at) WHERE new_handle_at IS NOT NULL",
        """
        CREATE TABLE installations (
            id text COLLATE "C" PRIMARY KEY,
            owner text COLLATE "C" NOT NULL,
            platform text NOT NULL,
            handle text COLLATE "C" NOT NULL,
            document bytea NOT NULL,
            updated_at bigint NOT NULL,
            new_handle_at bigint,
            last_seen_at bigint NOT NULL,
            expires_at bigint,
            encryption_key bytea,
            encryption_key_at bigint,
            key_notice_at bigint
        )
        """,
        "CREATE UNIQUE INDEX installations_id ON installations (lower(id))",
        "CREATE INDEX installations_handle ON installations USING hash (handle)",
        "CREATE INDEX installations_owner_id ON installations (owner, id)",
        "CREATE INDEX installations_seen ON installations (last_seen_at)",
        "CREATE INDEX installations_expiry ON installations (expires_at) WHERE expires_at IS NOT NULL",
        "CREATE INDEX installations_new_handle ON installations (new_handle_at) WHERE new_handle_at IS NOT NULL",
        "CREATE INDEX installations_key_notice ON installations (key_notice_at) WHERE key_notice_at IS NOT NULL",
    ]

    // A key is a folded ID. A row of `device_places` is a hub at which a device may be (HUB_POOL_FILE); it outlives its
    // device until the hub has deleted the device.
    static let deviceLeases = [
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
        """
        CREATE TABLE device_places (
            kind smallint NOT NULL,
            key text COLLATE "C" NOT NULL,
            hub text COLLATE "C" NOT NULL,
            content bigint,
            PRIMARY KEY (kind, key, hub)
        )
        """,
    ]

    // One row per family, with the hash of the newest token. A family without `replaced_hash` was not refreshed yet.
    // Rows are short-lived compared with devices and change with each refresh, so the table is vacuumed often.
    static let refreshTokens = [
        """
        CREATE TABLE refresh_tokens (
            family bytea PRIMARY KEY,
            owner text COLLATE "C" NOT NULL,
            user_entry text COLLATE "C" NOT NULL,
            token_hash bytea NOT NULL,
            expires_at bigint NOT NULL,
            replaced_hash bytea,
            used_at bigint
        ) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000)
        """,
        "CREATE INDEX refresh_tokens_owner ON refresh_tokens (owner, expires_at)",
        "CREATE INDEX refresh_tokens_expiry ON refresh_tokens (expires_at)",
    ]
}
