extension PostgresMigration {
    // No row is rewritten. An installation without `last_seen_at` was saved by the previous version, or that version
    // saved it last: `updated_at` is the time then. `expires_at` is NULL until the device registers again. The index of
    // owners and IDs is for a user's list: a user's rows are few, but without it the planner could walk through all IDs
    // instead.
    //
    // One row per family of refresh tokens, with the hash of the newest token. Rows are short-lived compared with
    // devices and change with each refresh, so the table is vacuumed often.
    static let deviceLife = PostgresMigration(
        version: 9, name: "0009_device_life",
        statements: [
            "ALTER TABLE installations ADD COLUMN last_seen_at bigint, ADD COLUMN expires_at bigint",
            "CREATE INDEX installations_seen ON installations ((\(PostgresStore.seenAt)))",
            "CREATE INDEX installations_expiry ON installations (expires_at) WHERE expires_at IS NOT NULL",
            "CREATE INDEX installations_owner_id ON installations (owner, id)",
            // The index above serves its searches too: a user has at most 100 installations.
            "DROP INDEX installations_owner",
            "CREATE INDEX registrations_seen ON registrations (updated_at)",
            leaseWithTimes, endWithTimes,
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

    /// `lease_device` of `0005_devices`, which also stores the times of an installation that it adds.
    private static let leaseWithTimes = """
        CREATE FUNCTION lease_device(
            _kind smallint, _id text, _condition smallint, _owner text, _handles text[], _platform text, _handle text,
            _document bytea, _updated_at bigint, _limit integer, _token bigint, _now bigint, _until bigint,
            _last_seen_at bigint, _expires_at bigint,
            OUT outcome smallint, OUT device_id text, OUT is_in_doubt boolean
        ) LANGUAGE plpgsql AS $$
        BEGIN
            SELECT leased.outcome, leased.device_id, leased.is_in_doubt INTO outcome, device_id, is_in_doubt
            FROM lease_device(
                _kind, _id, _condition, _owner, _handles, _platform, _handle, _document, _updated_at, _limit, _token,
                _now, _until) AS leased;
            IF outcome = 1 THEN
                UPDATE installations SET last_seen_at = _last_seen_at, expires_at = _expires_at
                WHERE lower(id) = lower(_id COLLATE "C");
            END IF;
        END
        $$
        """

    /// `end_device_lease` of `0005_devices`, which also stores the times of an installation, and keeps `updated_at` if
    /// nothing else changes. The lease is held, so no other call changes the device between the statements.
    private static let endWithTimes = """
        CREATE FUNCTION end_device_lease(
            _kind smallint, _id text, _token bigint, _change smallint, _owner text, _platform text, _handle text,
            _document bytea, _tags text, _updated_at bigint, _handles text[], _now bigint, _last_seen_at bigint,
            _expires_at bigint
        ) RETURNS boolean LANGUAGE plpgsql AS $$
        DECLARE
            _key text := lower(_id COLLATE "C");
            _unchanged_since bigint;
        BEGIN
            IF _change = 2 AND _kind = 0 THEN
                SELECT updated_at INTO _unchanged_since FROM installations
                WHERE lower(id) = _key AND owner = _owner AND document = _document;
            END IF;
            IF NOT end_device_lease(
                _kind, _id, _token, _change, _owner, _platform, _handle, _document, _tags, _updated_at, _handles, _now)
            THEN RETURN false; END IF;
            IF _change = 2 AND _kind = 0 THEN
                UPDATE installations SET updated_at = coalesce(_unchanged_since, updated_at),
                    last_seen_at = _last_seen_at, expires_at = _expires_at
                WHERE lower(id) = _key;
            END IF;
            RETURN true;
        END
        $$
        """
}

extension PostgresStore {
    /// When an installation was last seen. The previous version changes `updated_at` alone. GREATEST ignores NULL.
    static let seenAt = "greatest(last_seen_at, updated_at)"
}
