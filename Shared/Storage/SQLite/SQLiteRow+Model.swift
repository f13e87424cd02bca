import Foundation
import GRDB
import SecurePushCore

extension NotificationID {
    /// The ID as SQLite stores it: 16 bytes, which sort like the IDs.
    var data: Data { Data(bytes) }
}

extension Row {
    /// The error for a value that this program cannot have written.
    static func unreadable(_ column: String) -> StorageError {
        StorageError(.failed, "The database holds a value in \(column) that this version cannot read.")
    }

    /// A column that must not be NULL.
    ///
    /// GRDB's subscript traps on a value that does not fit the requested type, such as a number of more than 32 bits.
    /// An operator may have changed a row by hand, so values are checked.
    func value<Value: DatabaseValueConvertible>(_ index: Int, column: String) throws -> Value {
        guard let value: Value = try valueIfPresent(index, column: column) else { throw Row.unreadable(column) }
        return value
    }

    /// A column that may be NULL.
    func valueIfPresent<Value: DatabaseValueConvertible>(_ index: Int, column: String) throws -> Value? {
        let stored: DatabaseValue = self[index]
        if stored.isNull { return nil }
        guard let value = Value.fromDatabaseValue(stored) else { throw Row.unreadable(column) }
        return value
    }

    func notificationID(_ index: Int) throws -> NotificationID {
        guard let id = NotificationID(bytes: try value(index, column: "id") as Data) else { throw Row.unreadable("id") }
        return id
    }

    func storedTimeIfPresent(_ index: Int, column: String) throws -> Timestamp? {
        let milliseconds: Int64? = try valueIfPresent(index, column: column)
        return try milliseconds.map { try Timestamp(stored: $0, column: column) }
    }

    func timestamp(_ index: Int) -> Timestamp? {
        let milliseconds: Int64? = self[index]
        return milliseconds.map(Timestamp.init(milliseconds:))
    }

    /// A blob that must not be NULL.
    func bytes(_ index: Int, column: String) throws -> [UInt8] {
        guard let bytes: Data = self[index] else { throw Row.unreadable(column) }
        return [UInt8](bytes)
    }

    func userName(_ index: Int, column: String) throws -> UserName {
        guard let name = UserName(try value(index, column: column)) else { throw Row.unreadable(column) }
        return name
    }
}

extension Registration {
    static let columns = "id, owner, platform, handle, updated_at, tags"

    /// Reads ``columns``.
    init(_ row: Row) throws {
        let platform: String? = row[2]
        let tags: String? = row[5]
        self.init(
            id: row[0], owner: try row.userName(1, column: "owner"),
            platform: platform.flatMap(RegistrationPlatform.init(rawValue:)), handle: row[3],
            tags: try tags.map(StorageCoding.decodeTags) ?? [],
            updatedAt: row.timestamp(4) ?? Timestamp(milliseconds: 0))
    }
}

extension Installation {
    static let columns =
        "id, owner, platform, handle, updated_at, document, last_seen_at, expires_at, encryption_key, "
        + "encryption_key_at"

    /// Reads ``columns``.
    init(_ row: Row) throws {
        self.init(
            id: row[0], owner: try row.userName(1, column: "owner"), platform: Platform(rawValue: row[2]),
            handle: row[3], document: try row.bytes(5, column: "document"),
            updatedAt: row.timestamp(4) ?? Timestamp(milliseconds: 0), lastSeenAt: row.timestamp(6),
            expiresAt: row.timestamp(7), encryptionKey: try DeviceEncryptionKey(row, id: 0, key: 8, time: 9))
    }
}
