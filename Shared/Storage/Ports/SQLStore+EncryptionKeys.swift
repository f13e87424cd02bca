import Domain
import Foundations

extension SQLStore {
    /// The time of a key that is stored already stays.
    func setEncryptionKey(
        _ key: EncryptionKey, of installation: String, owner: UserName, now: Timestamp
    ) async throws -> Bool {
        try await run(
            """
            UPDATE installations SET encryption_key = \(key.bytes),
                encryption_key_at = CASE WHEN encryption_key = \(key.bytes) THEN encryption_key_at ELSE \(now) END
            WHERE lower(id) = \(DeviceID.folded(installation)) AND owner = \(owner)
            """) > 0
    }

    /// The order is that of the index `installations_owner_id`.
    func encryptionKeys(of owner: UserName, limit: Int) async throws -> [DeviceEncryptionKey] {
        try await all(
            """
            SELECT id, encryption_key, encryption_key_at FROM installations
            WHERE owner = \(owner) AND encryption_key IS NOT NULL ORDER BY owner, id LIMIT \(max(limit, 0))
            """
        ) { row in
            let id: String = try row()
            return try row.encryptionKey(of: id)
        }
        .compactMap(\.self)
    }
}

extension SQLRow {
    /// Reads two columns of an installation; `nil` if it has no key.
    mutating func encryptionKey(of id: String) throws -> DeviceEncryptionKey? {
        let key = try mapIfPresent { bytes in
            guard let key = EncryptionKey(point: bytes) else { throw unreadable("encryption_key") }
            return key
        }
        guard let key else {
            skip()
            return nil
        }
        return DeviceEncryptionKey(deviceID: id, key: key, createdAt: try self())
    }
}
