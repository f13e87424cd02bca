extension PostgresMigration {
    // The index of owners and IDs is for a user's list: a user's rows are few, but without it the planner could walk
    // through all IDs instead.
    //
    // One row per family of refresh tokens, with the hash of the newest token. Rows are short-lived compared with
    // devices and change with each refresh, so the table is vacuumed often.
    static let deviceLife = PostgresMigration(
        version: 9, name: "0009_device_life",
        statements: [
            "ALTER TABLE installations ADD COLUMN last_seen_at bigint NOT NULL, ADD COLUMN expires_at bigint",
            "CREATE INDEX installations_seen ON installations (last_seen_at)",
            "CREATE INDEX installations_expiry ON installations (expires_at) WHERE expires_at IS NOT NULL",
            "CREATE INDEX installations_owner_id ON installations (owner, id)",
            // The index above serves its searches too: a user has at most 100 installations.
            "DROP INDEX installations_owner",
            "CREATE INDEX registrations_seen ON registrations (updated_at)",
            """
            CREATE TABLE refresh_tokens (
                family bytea PRIMARY KEY,
                owner text COLLATE "C" NOT NULL,
                user_entry text COLLATE "C" NOT NULL,
                token_hash bytea NOT NULL,
                expires_at bigint NOT NULL
            ) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000)
            """,
            "CREATE INDEX refresh_tokens_owner ON refresh_tokens (owner, expires_at)",
            "CREATE INDEX refresh_tokens_expiry ON refresh_tokens (expires_at)",
        ])
}
