import GRDB
import SecurePushCore

extension SQLiteStore: RegistrationStore {
    func save(_ registration: Registration) async throws {
        _ = try await submit([.save(registration)])
    }

    func registration(_ id: String, owner: UserName) async throws -> Registration? {
        try checkRunning()
        return try await database.read { db in
            let statement = try db.cachedStatement(
                sql: "SELECT id, owner, platform, handle, updated_at FROM registrations WHERE id = ? AND owner = ?")
            return try Row.fetchOne(statement, arguments: [id, owner.text]).map { try Registration($0) }
        }
    }

    func registrations(handle: String) async throws -> [Registration] {
        try checkRunning()
        return try await database.read { db in
            let statement = try db.cachedStatement(
                sql: "SELECT id, owner, platform, handle, updated_at FROM registrations WHERE handle = ? ORDER BY id")
            return try Row.fetchAll(statement, arguments: [handle]).map { try Registration($0) }
        }
    }

    func removeRegistration(_ id: String) async throws {
        _ = try await submit([.removeRegistration(id)])
    }
}
