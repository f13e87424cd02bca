import Postgres
import SecurePushCore

extension PostgresStore: EncryptionKeyStore {
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
