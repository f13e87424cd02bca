import Postgres
import SecurePushCore

extension PostgresStore {
    func setEncryptionKey(
        _ key: EncryptionKey, of installation: String, owner: UserName, now: Timestamp
    ) async throws -> Bool {
        var parameters = PostgresParameters()
        parameters.append(installation)
        parameters.append(owner.text)
        parameters.append(key.x)
        parameters.append(now.milliseconds)
        return try await query(.setEncryptionKey, parameters).affectedRows > 0
    }

    func encryptionKeys(of owner: UserName, limit: Int) async throws -> [DeviceEncryptionKey] {
        var parameters = PostgresParameters()
        parameters.append(owner.text)
        parameters.append(Int64(max(limit, 0)))
        let result = try await query(.encryptionKeysOfOwner, parameters)
        return try decoding {
            try result.compactMap { row in
                try row.encryptionKey(of: try row.decode(0), key: 1, time: 2)
            }
        }
    }
}

extension PostgresRow {
    /// Reads two columns of an installation; `nil` if it has no key.
    func encryptionKey(of id: String, key: Int, time: Int) throws -> DeviceEncryptionKey? {
        guard let bytes = try decodeIfPresent(key, as: [UInt8].self) else { return nil }
        guard let key = EncryptionKey(x: bytes) else { throw unreadable("encryption_key") }
        return DeviceEncryptionKey(deviceID: id, key: key, createdAt: try timestamp(time))
    }
}

extension PostgresStatement {
    /// The time of a key that is stored already stays.
    fileprivate static let setEncryptionKey = PostgresStatement(
        """
        UPDATE installations SET encryption_key = $3,
            encryption_key_at = CASE WHEN encryption_key = $3 THEN encryption_key_at ELSE $4 END
        WHERE lower(id) = lower($1::text COLLATE "C") AND owner = $2 COLLATE "C"
        """)

    fileprivate static let encryptionKeysOfOwner = PostgresStatement(
        """
        SELECT id, encryption_key, encryption_key_at FROM installations
        WHERE owner = $1 COLLATE "C" AND encryption_key IS NOT NULL ORDER BY owner, id LIMIT $2
        """)
}

extension PostgresMigration {
    // The key of an installation is in its row, so it goes with the row, whoever deletes it. It belongs to the owner:
    // another user who takes the installation over does not inherit it. The trigger holds for processes of the previous
    // version too, which do not know the columns. No row is rewritten.
    static let encryptionKeys = PostgresMigration(
        version: 11, name: "0011_encryption_keys",
        statements: [
            "ALTER TABLE installations ADD COLUMN encryption_key bytea, ADD COLUMN encryption_key_at bigint",
            """
            CREATE FUNCTION forget_encryption_key() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                NEW.encryption_key := NULL;
                NEW.encryption_key_at := NULL;
                RETURN NEW;
            END
            $$
            """,
            """
            CREATE TRIGGER installations_new_owner BEFORE UPDATE OF owner ON installations FOR EACH ROW
            WHEN (OLD.owner IS DISTINCT FROM NEW.owner) EXECUTE FUNCTION forget_encryption_key()
            """,
        ])
}
