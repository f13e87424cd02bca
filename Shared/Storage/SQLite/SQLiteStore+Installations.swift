import GRDB
import SecurePushCore

extension SQLiteStore: InstallationStore {
    func installation(_ id: String) async throws -> Installation? {
        try checkRunning()
        return try await database.read { db in
            let statement = try db.cachedStatement(sql: Installation.byID)
            return try Row.fetchOne(statement, arguments: [id]).map { try Installation($0) }
        }
    }

    func installations(handle: String) async throws -> [Installation] {
        try checkRunning()
        return try await database.read { db in
            let statement = try db.cachedStatement(sql: Installation.byHandle)
            return try Row.fetchAll(statement, arguments: [handle]).map { try Installation($0) }
        }
    }

    func installations(after id: String?, limit: Int) async throws -> [Installation] {
        try checkRunning()
        return try await database.read { db in
            let statement = try db.cachedStatement(sql: Installation.afterID)
            return try Row.fetchAll(statement, arguments: [id ?? "", max(limit, 0)]).map { try Installation($0) }
        }
    }
}

extension Installation {
    static let byID = "SELECT \(columns) FROM installations WHERE id = ? COLLATE NOCASE"
    static let byHandle = "SELECT \(columns) FROM installations WHERE handle = ? ORDER BY id"
    /// Every ID is greater than the empty text, which is none.
    static let afterID = "SELECT \(columns) FROM installations WHERE id > ? ORDER BY id LIMIT ?"
}
