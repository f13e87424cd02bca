import Postgres
import SecurePushCore

extension PostgresStore {
    func installation(_ id: String) async throws -> Installation? {
        var parameters = PostgresParameters()
        parameters.append(id)
        return try await installations(.installation, parameters).first
    }

    func installations(handle: String) async throws -> [Installation] {
        var parameters = PostgresParameters()
        parameters.append(handle)
        return try await installations(.installationsOfHandle, parameters)
    }

    func installations(after id: String?, limit: Int) async throws -> [Installation] {
        var parameters = PostgresParameters()
        parameters.append(id ?? "")
        parameters.append(Int64(max(limit, 0)))
        return try await installations(.installationsAfter, parameters)
    }

    func installations(
        _ statement: PostgresStatement, _ parameters: PostgresParameters
    ) async throws -> [Installation] {
        let result = try await query(statement, parameters)
        return try decoding { try result.map(Installation.init) }
    }
}

extension PostgresStatement {
    static let installationColumns =
        "id, owner, platform, handle, document, updated_at, \(PostgresStore.seenAt), expires_at, encryption_key, "
        + "encryption_key_at"

    fileprivate static let installation = PostgresStatement(
        #"SELECT \#(installationColumns) FROM installations WHERE lower(id) = lower($1::text COLLATE "C")"#)

    fileprivate static let installationsOfHandle = PostgresStatement(
        "SELECT \(installationColumns) FROM installations WHERE handle = $1")

    /// Every ID sorts after the empty string.
    fileprivate static let installationsAfter = PostgresStatement(
        "SELECT \(installationColumns) FROM installations WHERE id > $1 ORDER BY id LIMIT $2")
}

extension Installation {
    /// Reads a row of the columns above.
    fileprivate init(_ row: PostgresRow) throws {
        let id: String = try row.decode(0)
        self.init(
            id: id, owner: try row.userName(1),
            platform: Platform(rawValue: try row.decode(2)), handle: try row.decode(3),
            document: try row.decode(4), updatedAt: try row.timestamp(5), lastSeenAt: try row.timestamp(6),
            expiresAt: try row.timestampIfPresent(7), encryptionKey: try row.encryptionKey(of: id, key: 8, time: 9))
    }
}

extension PostgresStore {
    func registration(_ id: String, owner: UserName) async throws -> Registration? {
        var parameters = PostgresParameters()
        parameters.append(id)
        parameters.append(owner.text)
        let result = try await query(.registration, parameters)
        return try decoding { try result.first.map(Registration.init) }
    }

    func registration(_ id: String) async throws -> Registration? {
        var parameters = PostgresParameters()
        parameters.append(id)
        let result = try await query(.registrationOfAnyone, parameters)
        return try decoding { try result.first.map(Registration.init) }
    }

    func registrations(handle: String) async throws -> [Registration] {
        var parameters = PostgresParameters()
        parameters.append(handle)
        let result = try await query(.registrationsOfHandle, parameters)
        return try decoding { try result.map(Registration.init) }
    }

    func registrations(after id: String?, limit: Int) async throws -> [Registration] {
        var parameters = PostgresParameters()
        parameters.append(id ?? "")
        parameters.append(Int64(max(limit, 0)))
        let result = try await query(.registrationsAfter, parameters)
        return try decoding { try result.map(Registration.init) }
    }
}

extension PostgresStatement {
    private static let registrationColumns = "id, owner, platform, handle, updated_at, tags"

    private static let byID =
        #"SELECT \#(registrationColumns) FROM registrations WHERE lower(id) = lower($1::text COLLATE "C")"#

    fileprivate static let registrationOfAnyone = PostgresStatement(byID)

    fileprivate static let registration = PostgresStatement("\(byID) AND owner = $2")

    fileprivate static let registrationsOfHandle = PostgresStatement(
        "SELECT \(registrationColumns) FROM registrations WHERE handle = $1")

    /// Every ID sorts after the empty string.
    fileprivate static let registrationsAfter = PostgresStatement(
        "SELECT \(registrationColumns) FROM registrations WHERE id > $1 ORDER BY id LIMIT $2")
}

extension Registration {
    /// Reads a row of the columns above.
    fileprivate init(_ row: PostgresRow) throws {
        let platform = try row.decodeIfPresent(2, as: String.self)
        self.init(
            id: try row.decode(0), owner: try row.userName(1),
            platform: platform.flatMap(RegistrationPlatform.init(rawValue:)), handle: try row.decodeIfPresent(3),
            tags: try StorageCoding.decodeTags(row.decode(5)), updatedAt: try row.timestamp(4))
    }
}

extension PostgresStore {
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
                    // A newer version may have written a name that this one does not know.
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
    /// Both indexes contain the platform, so no table row is read.
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
