import GRDB
import SecurePushCore

extension SQLiteStore: RegistrationStore {
    func registration(_ id: String, owner: UserName) async throws -> Registration? {
        try checkRunning()
        return try await database.read { db in
            let statement = try db.cachedStatement(sql: Registration.byIDAndOwner)
            return try Row.fetchOne(statement, arguments: [id, owner.text]).map { try Registration($0) }
        }
    }

    func registration(_ id: String) async throws -> Registration? {
        try checkRunning()
        return try await database.read { db in
            let statement = try db.cachedStatement(sql: Registration.byID)
            return try Row.fetchOne(statement, arguments: [id]).map { try Registration($0) }
        }
    }

    func registrations(handle: String) async throws -> [Registration] {
        try checkRunning()
        return try await database.read { db in
            let statement = try db.cachedStatement(sql: Registration.byHandle)
            return try Row.fetchAll(statement, arguments: [handle]).map { try Registration($0) }
        }
    }

    func registrations(after id: String?, limit: Int) async throws -> [Registration] {
        try checkRunning()
        return try await database.read { db in
            let statement = try db.cachedStatement(sql: Registration.afterID)
            return try Row.fetchAll(statement, arguments: [id ?? "", max(limit, 0)]).map { try Registration($0) }
        }
    }
}

extension Registration {
    static let byID = "SELECT \(columns) FROM registrations WHERE id = ? COLLATE NOCASE"
    static let byIDAndOwner = "\(byID) AND owner = ?"
    static let byHandle = "SELECT \(columns) FROM registrations WHERE handle = ? ORDER BY id"
    /// Every ID is greater than the empty text, which is none.
    static let afterID = "SELECT \(columns) FROM registrations WHERE id > ? ORDER BY id LIMIT ?"
}
