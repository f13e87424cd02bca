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

    func userName(_ index: Int, column: String) throws -> UserName {
        guard let text: String = self[index], let name = UserName(text) else { throw Row.unreadable(column) }
        return name
    }
}

extension Registration {
    /// Reads `id, owner, platform, handle, updated_at`.
    init(_ row: Row) throws {
        let platform: String? = row[2]
        self.init(
            id: row[0], owner: try row.userName(1, column: "owner"),
            platform: platform.flatMap(RegistrationPlatform.init(rawValue:)), handle: row[3],
            updatedAt: row.timestamp(4) ?? Timestamp(milliseconds: 0))
    }
}
