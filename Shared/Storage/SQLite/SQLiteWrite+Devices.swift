import Foundation
import GRDB
import SecurePushCore

extension SQLiteWrite {
    /// Stores a registration in the place of the one with its ID, whose spelling stays.
    ///
    /// - Parameter newHandleAt: when the hub is to be asked for the handle; `nil` where it was.
    static func save(_ registration: Registration, newHandleAt: Int64?, _ db: Database) throws {
        let arguments: StatementArguments = [
            registration.owner.text, registration.platform?.rawValue, registration.handle,
            registration.updatedAt.milliseconds, TagsCoding.encode(registration.tags), newHandleAt, registration.id,
        ]
        try db.cachedStatement(sql: updateRegistration).execute(arguments: arguments)
        if db.changesCount == 0 { try db.cachedStatement(sql: insertRegistration).execute(arguments: arguments) }
    }

    static let updateRegistration = """
        UPDATE registrations SET owner = ?, platform = ?, handle = ?, updated_at = ?, tags = ?, new_handle_at = ?
        WHERE id = ? COLLATE NOCASE
        """

    static let insertRegistration = """
        INSERT INTO registrations (owner, platform, handle, updated_at, tags, new_handle_at, id)
        VALUES (?, ?, ?, ?, ?, ?, ?)
        """

    /// Stores an installation in the place of the one with its ID, whose spelling stays.
    ///
    /// - Parameter newHandleAt: when the hub is to be asked for the handle; `nil` where it was.
    static func save(_ installation: Installation, newHandleAt: Int64?, _ db: Database) throws {
        let arguments: StatementArguments = [
            installation.owner.text, installation.platform.rawValue, installation.handle,
            installation.updatedAt.milliseconds, Data(installation.document), newHandleAt, installation.id,
        ]
        try db.cachedStatement(sql: updateInstallation).execute(arguments: arguments)
        if db.changesCount == 0 { try db.cachedStatement(sql: insertInstallation).execute(arguments: arguments) }
    }

    static let updateInstallation = """
        UPDATE installations SET owner = ?, platform = ?, handle = ?, updated_at = ?, document = ?, new_handle_at = ?
        WHERE id = ? COLLATE NOCASE
        """

    static let insertInstallation = """
        INSERT INTO installations (owner, platform, handle, updated_at, document, new_handle_at, id)
        VALUES (?, ?, ?, ?, ?, ?, ?)
        """
}
