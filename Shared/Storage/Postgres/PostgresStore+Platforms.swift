import Postgres
import SecurePushCore

extension PostgresStore: RegisteredPlatforms {
    func platforms(of users: [UserName]) async throws -> [UserName: Set<Platform>] {
        if users.isEmpty { return [:] }
        let users = Array(Set(users))
        var parameters = PostgresParameters(capacity: users.count * 32 + 32)
        parameters.append(users) { $0.text }
        let result = try await query(.platforms, parameters)
        return try decoding {
            var platforms: [UserName: Set<Platform>] = [:]
            for row in result {
                let user = users[Int(try row.decode(0, as: Int64.self)) - 1]
                let name = try row.decode(1, as: String.self)
                if try row.decode(2, as: Bool.self) {
                    // A name that a later version wrote says nothing to this one.
                    guard let platform = RegistrationPlatform(rawValue: name) else { continue }
                    platforms[user, default: []].insert(platform.platform)
                } else {
                    platforms[user, default: []].insert(Platform(rawValue: name))
                }
            }
            return platforms
        }
    }
}

extension PostgresStatement {
    /// Both indexes hold the platform, so that no row is read for it.
    fileprivate static let platforms = PostgresStatement(
        """
        SELECT asked.position, registrations.platform, true
        FROM unnest($1::text[]) WITH ORDINALITY AS asked (owner, position)
        JOIN registrations ON registrations.owner = asked.owner COLLATE "C" AND registrations.platform IS NOT NULL
        UNION ALL
        SELECT asked.position, installations.platform, false
        FROM unnest($1::text[]) WITH ORDINALITY AS asked (owner, position)
        JOIN installations ON installations.owner = asked.owner COLLATE "C"
        """)
}
