import Postgres
import SecurePushCore

extension PostgresStore: RegistrationStore {
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
    private static let columns = "id, owner, platform, handle, updated_at, tags"

    private static let byID = #"SELECT \#(columns) FROM registrations WHERE lower(id) = lower($1::text COLLATE "C")"#

    fileprivate static let registrationOfAnyone = PostgresStatement(byID)

    fileprivate static let registration = PostgresStatement("\(byID) AND owner = $2")

    fileprivate static let registrationsOfHandle = PostgresStatement(
        "SELECT \(columns) FROM registrations WHERE handle = $1")

    /// Every ID comes behind the empty text, for none is empty.
    fileprivate static let registrationsAfter = PostgresStatement(
        "SELECT \(columns) FROM registrations WHERE id > $1 ORDER BY id LIMIT $2")
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
