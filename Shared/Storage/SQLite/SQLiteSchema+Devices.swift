extension SQLiteSchema {
    /// For the hub, IDs that differ only in case are one device. `new_handle_at` is when to ask the hub about a handle.
    /// Installations have wide documents, so they have a row ID; the key of one is in its row, so it goes with the row,
    /// whoever deletes it.
    ///
    /// A key of `device_leases` and `device_places` is a folded ID. A row of `device_places` is a hub at which a device
    /// may be (`HUB_POOL_FILE`); it outlives its device until the hub has deleted the device.
    ///
    /// A family of refresh tokens is one row, with the hash of the newest token. One without `replaced_hash` was not
    /// refreshed yet.
    static let devices = """
        CREATE TABLE registrations (
            id TEXT PRIMARY KEY NOT NULL,
            owner TEXT NOT NULL,
            platform TEXT,
            handle TEXT,
            tags TEXT NOT NULL DEFAULT '[]',
            updated_at INTEGER NOT NULL,
            new_handle_at INTEGER
        ) STRICT, WITHOUT ROWID;
        CREATE UNIQUE INDEX registrations_id ON registrations (lower(id));
        CREATE INDEX registrations_handle ON registrations (handle);
        CREATE INDEX registrations_owner ON registrations (owner, platform);
        CREATE INDEX registrations_seen ON registrations (updated_at);
        CREATE INDEX registrations_new_handle ON registrations (new_handle_at) WHERE new_handle_at IS NOT NULL;
        CREATE TABLE installations (
            id TEXT PRIMARY KEY NOT NULL,
            owner TEXT NOT NULL,
            platform TEXT NOT NULL,
            handle TEXT NOT NULL,
            document BLOB NOT NULL,
            updated_at INTEGER NOT NULL,
            new_handle_at INTEGER,
            last_seen_at INTEGER NOT NULL,
            expires_at INTEGER,
            encryption_key BLOB,
            encryption_key_at INTEGER,
            key_notice_at INTEGER
        ) STRICT;
        CREATE UNIQUE INDEX installations_id ON installations (lower(id));
        CREATE INDEX installations_handle ON installations (handle, id);
        CREATE INDEX installations_owner_id ON installations (owner, id);
        CREATE INDEX installations_seen ON installations (last_seen_at);
        CREATE INDEX installations_expiry ON installations (expires_at) WHERE expires_at IS NOT NULL;
        CREATE INDEX installations_new_handle ON installations (new_handle_at) WHERE new_handle_at IS NOT NULL;
        CREATE INDEX installations_key_notice ON installations (key_notice_at) WHERE key_notice_at IS NOT NULL;
        CREATE TABLE device_leases (
            kind INTEGER NOT NULL,
            key TEXT NOT NULL,
            id TEXT NOT NULL,
            token INTEGER NOT NULL,
            until INTEGER NOT NULL,
            claimant TEXT,
            PRIMARY KEY (kind, key)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX device_leases_until ON device_leases (until);
        CREATE INDEX device_leases_claimant ON device_leases (claimant) WHERE claimant IS NOT NULL;
        CREATE TABLE device_places (
            kind INTEGER NOT NULL,
            key TEXT NOT NULL,
            hub TEXT NOT NULL,
            content INTEGER,
            PRIMARY KEY (kind, key, hub)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE refresh_tokens (
            family BLOB PRIMARY KEY NOT NULL,
            owner TEXT NOT NULL,
            user_entry TEXT NOT NULL,
            token_hash BLOB NOT NULL,
            expires_at INTEGER NOT NULL,
            replaced_hash BLOB,
            used_at INTEGER
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX refresh_tokens_owner ON refresh_tokens (owner, expires_at);
        CREATE INDEX refresh_tokens_expiry ON refresh_tokens (expires_at);
        """
}
