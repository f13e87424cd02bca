import Foundation
import GRDB
import SecurePushCore

extension SQLiteWrite {
    static func save(_ registration: Registration, _ db: Database) throws {
        try db.cachedStatement(sql: saveRegistration).execute(arguments: [
            registration.id, registration.owner.text, registration.platform?.rawValue, registration.handle,
            registration.updatedAt.milliseconds, TagsCoding.encode(registration.tags),
        ])
    }

    private static let saveRegistration = """
        INSERT INTO registrations (\(Registration.columns)) VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET owner = excluded.owner, platform = excluded.platform,
            handle = excluded.handle, updated_at = excluded.updated_at, tags = excluded.tags
        """

    static func save(_ installation: Installation, _ db: Database) throws {
        try db.cachedStatement(sql: saveInstallation).execute(arguments: [
            installation.id, installation.owner.text, installation.platform.rawValue, installation.handle,
            installation.updatedAt.milliseconds, Data(installation.document),
        ])
    }

    private static let saveInstallation = """
        INSERT INTO installations (\(Installation.columns)) VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET owner = excluded.owner, platform = excluded.platform,
            handle = excluded.handle, updated_at = excluded.updated_at, document = excluded.document
        """
}
