extension SQLiteSchema {
    /// The key of an installation is in its row, so it goes with the row, whoever deletes it. It belongs to the owner:
    /// another user who takes the installation over does not inherit it. The trigger holds for processes of the
    /// previous version too, which do not know the columns.
    static let encryptionKeys = """
        ALTER TABLE installations ADD COLUMN encryption_key BLOB;
        ALTER TABLE installations ADD COLUMN encryption_key_at INTEGER;
        CREATE TRIGGER installations_new_owner AFTER UPDATE OF owner ON installations
        WHEN new.owner IS NOT old.owner AND new.encryption_key IS NOT NULL
        BEGIN
            UPDATE installations SET encryption_key = NULL, encryption_key_at = NULL WHERE id = new.id;
        END;
        """
}
