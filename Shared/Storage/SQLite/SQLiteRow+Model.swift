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

extension NotificationRecord {
    private static let columnList = [
        "id", "recipient", "created_at", "expires_at", "not_before", "status", "read_at", "revoked_at", "deliveries",
        "sender", "platforms", "shown_at",
    ]

    static let columns = columnList.joined(separator: ", ")

    /// The number of those columns. Further columns of a statement begin at this index.
    static let columnCount = columnList.count

    /// Reads ``columns`` except sender and deliveries, which are decoded only if needed.
    init(_ row: Row) throws {
        let createdAt = try Timestamp(stored: try row.value(2, column: "created_at"), column: "created_at")
        let expiresAt = try Timestamp(stored: try row.value(3, column: "expires_at"), column: "expires_at")
        guard let status = DispatchStatus(rawValue: try row.value(5, column: "status")) else {
            throw Row.unreadable("status")
        }
        let platforms: String? = try row.valueIfPresent(10, column: "platforms")
        self.init(
            id: try row.notificationID(0), recipient: try row.userName(1, column: "recipient"), createdAt: createdAt,
            expiresAt: expiresAt, notBefore: try row.storedTimeIfPresent(4, column: "not_before"),
            platforms: platforms.map(StorageCoding.decodePlatforms), dispatchStatus: status,
            readAt: try row.storedTimeIfPresent(6, column: "read_at"),
            revokedAt: try row.storedTimeIfPresent(7, column: "revoked_at"),
            shownAt: try row.storedTimeIfPresent(11, column: "shown_at"))
    }

    /// The record with its deliveries, from the same row.
    func withDeliveries(_ row: Row) throws -> NotificationRecord {
        guard let text: String = try row.valueIfPresent(8, column: "deliveries") else { return self }
        var record = self
        record.deliveries = try StorageCoding.decodeDeliveries(text)
        return record
    }
}
