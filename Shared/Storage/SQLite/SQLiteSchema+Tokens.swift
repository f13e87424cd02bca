extension SQLiteSchema {
    /// No row is rewritten. A family without `replaced_hash` was not refreshed since.
    static let replacedTokens = """
        ALTER TABLE refresh_tokens ADD COLUMN replaced_hash BLOB;
        ALTER TABLE refresh_tokens ADD COLUMN used_at INTEGER;
        """
}
