import GRDB
import SecurePushCore

extension SQLiteStore: RegisteredPlatforms {
    func platforms(of users: [UserName]) async throws -> [UserName: Set<Platform>] {
        try checkRunning()
        if users.isEmpty { return [:] }
        return try await database.read { db in
            let registrations = try db.cachedStatement(sql: Registration.platformsOfOwner)
            let installations = try db.cachedStatement(sql: Installation.platformsOfOwner)
            var platforms: [UserName: Set<Platform>] = [:]
            for user in Set(users) {
                let registered = try String.fetchAll(registrations, arguments: [user.text])
                    .compactMap { RegistrationPlatform(rawValue: $0)?.platform }
                let installed = try String.fetchAll(installations, arguments: [user.text])
                    .map { Platform(rawValue: $0) }
                let found = Set(registered + installed)
                if !found.isEmpty { platforms[user] = found }
            }
            return platforms
        }
    }
}

extension Registration {
    static let platformsOfOwner =
        "SELECT DISTINCT platform FROM registrations WHERE owner = ? AND platform IS NOT NULL"
}

extension Installation {
    static let platformsOfOwner = "SELECT DISTINCT platform FROM installations WHERE owner = ?"
}
