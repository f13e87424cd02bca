import Foundation
import GRDB
import SecurePushCore

extension NotificationID {
    /// The ID as SQLite keeps it: 16 bytes, which sort as the IDs do.
    var data: Data { Data(bytes) }
}

extension Row {
    /// What a column holds that this program cannot have written.
    static func unreadable(_ column: String) -> StorageError {
        StorageError(.failed, "The database holds a value in \(column) that this version cannot read.")
    }

    func notificationID(_ index: Int) throws -> NotificationID {
        guard let bytes: Data = self[index], let id = NotificationID(bytes: bytes) else { throw Row.unreadable("id") }
        return id
    }

    func timestamp(_ index: Int) -> Timestamp? {
        let milliseconds: Int64? = self[index]
        return milliseconds.map(Timestamp.init(milliseconds:))
    }

    /// A blob that may not be null.
    func bytes(_ index: Int, column: String) throws -> [UInt8] {
        guard let bytes: Data = self[index] else { throw Row.unreadable(column) }
        return [UInt8](bytes)
    }

    func userName(_ index: Int, column: String) throws -> UserName {
        guard let text: String = self[index], let name = UserName(text) else { throw Row.unreadable(column) }
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
            tags: try tags.map(TagsCoding.decode) ?? [], updatedAt: row.timestamp(4) ?? Timestamp(milliseconds: 0))
    }
}

extension Installation {
    static let columns = "id, owner, platform, handle, updated_at, document"

    /// Reads ``columns``.
    init(_ row: Row) throws {
        self.init(
            id: row[0], owner: try row.userName(1, column: "owner"), platform: Platform(rawValue: row[2]),
            handle: row[3], document: try row.bytes(5, column: "document"),
            updatedAt: row.timestamp(4) ?? Timestamp(milliseconds: 0))
    }
}

extension NotificationRecord {
    static let columns =
        "id, recipient, created_at, expires_at, not_before, status, read_at, revoked_at, deliveries, sender, platforms"

    /// Reads ``columns`` but sender and deliveries: these are decoded only where they are wanted.
    init(_ row: Row) throws {
        guard let createdAt = row.timestamp(2), let expiresAt = row.timestamp(3) else {
            throw Row.unreadable("created_at")
        }
        guard let status = DispatchStatus(rawValue: row[5]) else { throw Row.unreadable("status") }
        let platforms: String? = row[10]
        self.init(
            id: try row.notificationID(0), recipient: try row.userName(1, column: "recipient"), createdAt: createdAt,
            expiresAt: expiresAt, notBefore: row.timestamp(4),
            platforms: platforms.map(Platform.platforms(list:)), dispatchStatus: status,
            readAt: row.timestamp(6), revokedAt: row.timestamp(7))
    }

    /// The record with its deliveries, from the row that it was read from.
    func withDeliveries(_ row: Row) throws -> NotificationRecord {
        guard let text: String = row[8] else { return self }
        var record = self
        record.deliveries = try DeliveriesCoding.decode(text)
        return record
    }
}
