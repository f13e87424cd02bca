extension SQLiteSchema {
    /// A family of refresh tokens is one row, with the hash of the newest token.
    static let deviceLife = """
        ALTER TABLE installations ADD COLUMN last_seen_at INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE installations ADD COLUMN expires_at INTEGER;
        CREATE INDEX installations_seen ON installations (last_seen_at);
        CREATE INDEX installations_expiry ON installations (expires_at) WHERE expires_at IS NOT NULL;
        CREATE INDEX installations_owner_id ON installations (owner, id);
        CREATE INDEX registrations_seen ON registrations (updated_at);
        CREATE TABLE refresh_tokens (
            family BLOB PRIMARY KEY NOT NULL,
            owner TEXT NOT NULL COLLATE BINARY,
            user_entry TEXT NOT NULL,
            token_hash BLOB NOT NULL,
            expires_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX refresh_tokens_owner ON refresh_tokens (owner, expires_at);
        CREATE INDEX refresh_tokens_expiry ON refresh_tokens (expires_at);
        """
}
