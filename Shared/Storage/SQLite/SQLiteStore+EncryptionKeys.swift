import Foundation
import GRDB
import SecurePushCore

extension SQLiteStore {
    func setEncryptionKey(
        _ key: EncryptionKey, of installation: String, owner: UserName, now: Timestamp
    ) async throws -> Bool {
        let change = SQLiteDeviceChange.setEncryptionKey(key, of: installation, owner: owner, now: now)
        guard case .encryptionKeySet(let isKnown)? = try await submit([.device(change)]).first else { return false }
        return isKnown
    }

    func encryptionKeys(of owner: UserName, limit: Int) async throws -> [DeviceEncryptionKey] {
        try checkRunning()
        return try await database.read { db in
            let statement = try db.cachedStatement(sql: DeviceEncryptionKey.ofOwner)
            return try Row.fetchAll(statement, arguments: [owner.text, max(limit, 0)])
                .compactMap { try DeviceEncryptionKey($0, id: 0, key: 1, time: 2) }
        }
    }
}

extension DeviceEncryptionKey {
    static let ofOwner = """
        SELECT id, encryption_key, encryption_key_at FROM installations
        WHERE owner = ? AND encryption_key IS NOT NULL ORDER BY id LIMIT ?
        """

    /// Reads three columns of an installation; `nil` if it has no key.
    init?(_ row: Row, id: Int, key: Int, time: Int) throws {
        guard let bytes: Data = try row.valueIfPresent(key, column: "encryption_key") else { return nil }
        guard let key = EncryptionKey(x: [UInt8](bytes)) else { throw Row.unreadable("encryption_key") }
        let milliseconds: Int64 = try row.value(time, column: "encryption_key_at")
        self.init(
            deviceID: try row.value(id, column: "id"), key: key,
            createdAt: try Timestamp(stored: milliseconds, column: "encryption_key_at"))
    }
}

extension SQLiteDeviceChange {
    /// Stores a key.
    ///
    /// - Returns: whether the user has the installation.
    static func save(
        _ key: EncryptionKey, of installation: String, owner: UserName, now: Timestamp, _ db: Database
    ) throws -> Bool {
        let bytes = Data(key.x)
        try db.cachedStatement(sql: saveEncryptionKey)
            .execute(arguments: [bytes, now.milliseconds, bytes, installation, owner.text])
        return db.changesCount > 0
    }

    /// The time of a key that is stored already stays.
    static let saveEncryptionKey = """
        UPDATE installations
        SET encryption_key_at = CASE WHEN encryption_key = ? THEN encryption_key_at ELSE ? END, encryption_key = ?
        WHERE id = ? COLLATE NOCASE AND owner = ?
        """
}
