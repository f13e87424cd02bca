import Postgres
import SecurePushCore

extension PostgresStore: RegistrationStore {
    func save(_ registration: Registration) async throws {
        var parameters = PostgresParameters()
        parameters.append(registration.id)
        parameters.append(registration.owner.text)
        parameters.append(registration.platform?.rawValue)
        parameters.append(registration.handle)
        parameters.append(registration.updatedAt.milliseconds)
        parameters.append(TagsCoding.encode(registration.tags))
        _ = try await query(.save, parameters)
    }

    func registration(_ id: String, owner: UserName) async throws -> Registration? {
        var parameters = PostgresParameters()
        parameters.append(id)
        parameters.append(owner.text)
        let result = try await query(.registration, parameters)
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

    func removeRegistration(_ id: String) async throws {
        var parameters = PostgresParameters()
        parameters.append(id)
        _ = try await query(.removeRegistration, parameters)
    }
}

extension PostgresStatement {
    fileprivate static let save = PostgresStatement(
        """
        INSERT INTO registrations (id, owner, platform, handle, updated_at, tags) VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (id) DO UPDATE SET owner = excluded.owner, platform = excluded.platform,
            handle = excluded.handle, updated_at = excluded.updated_at, tags = excluded.tags
        """)

    private static let columns = "id, owner, platform, handle, updated_at, tags"

    fileprivate static let registration = PostgresStatement(
        "SELECT \(columns) FROM registrations WHERE id = $1 AND owner = $2")

    fileprivate static let registrationsOfHandle = PostgresStatement(
        "SELECT \(columns) FROM registrations WHERE handle = $1")

    /// Every ID comes behind the empty text, for none is empty.
    fileprivate static let registrationsAfter = PostgresStatement(
        "SELECT \(columns) FROM registrations WHERE id > $1 ORDER BY id LIMIT $2")

    fileprivate static let removeRegistration = PostgresStatement("DELETE FROM registrations WHERE id = $1")
}

extension Registration {
    /// A row of the columns above.
    fileprivate init(_ row: PostgresRow) throws {
        let platform = try row.decodeIfPresent(2, as: String.self)
        self.init(
            id: try row.decode(0), owner: try row.userName(1),
            platform: platform.flatMap(RegistrationPlatform.init(rawValue:)), handle: try row.decodeIfPresent(3),
            tags: try TagsCoding.decode(row.decode(5)), updatedAt: try row.timestamp(4))
    }
}
