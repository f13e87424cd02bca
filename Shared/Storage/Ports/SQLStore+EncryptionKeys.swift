import Domain
import Foundations

extension SQLStore {
    /// The time of a key that is stored already stays.
    func setEncryptionKey(
        _ key: EncryptionKey, of installation: String, owner: UserName, notifies: Bool, now: Timestamp
    ) async throws -> Bool {
        let id = DeviceID.folded(installation)
        let notice: SQL =
            """
            , key_notice_at = CASE WHEN key_notice_at IS NULL AND encryption_key \(.isNot) \(key.bytes)
                AND (encryption_key_at IS NULL OR encryption_key_at > \(now - KeyNotice.rotationAge))
                AND (EXISTS (SELECT 1 FROM installations AS other
                        WHERE other.owner = \(owner) AND lower(other.id) <> \(id))
                    OR EXISTS (SELECT 1 FROM registrations AS other
                        WHERE other.owner = \(owner) AND other.platform IS NOT NULL))
                THEN \(now) ELSE key_notice_at END
            """
        return try await run(
            """
            UPDATE installations SET encryption_key = \(key.bytes),
                encryption_key_at = CASE WHEN encryption_key = \(key.bytes) THEN encryption_key_at ELSE \(now) END
                \(notifies ? notice : "")
            WHERE lower(id) = \(id) AND owner = \(owner)
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

extension SQLStore {
    /// Skips rows that another process has locked.
    func leaseKeyNotice(now: Timestamp, until: Timestamp) async throws -> KeyNotice? {
        try await change(
            """
            UPDATE installations SET key_notice_at = \(until) WHERE id = (
                SELECT id FROM installations WHERE key_notice_at <= \(now)
                ORDER BY key_notice_at LIMIT 1 \(.skipLocked)
            ) RETURNING id, owner
            """
        ) { row in KeyNotice(installation: try row(), owner: try row(), until: until) }
        .first
    }

    func settle(_ notice: KeyNotice, told: Timestamp) async throws {
        try await run(
            """
            UPDATE installations SET key_notice_at = NULL
            WHERE owner = \(notice.owner) AND key_notice_at IS NOT NULL
                AND (encryption_key_at <= \(told) OR (id = \(notice.installation) AND key_notice_at = \(notice.until)))
            """)
    }

    func postpone(_ notice: KeyNotice, until: Timestamp) async throws {
        try await run(
            """
            UPDATE installations SET key_notice_at = \(until)
            WHERE id = \(notice.installation) AND key_notice_at = \(notice.until)
            """)
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
