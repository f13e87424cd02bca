import Postgres
import SecurePushCore

extension PostgresStore {
    func installations(
        of owner: UserName, after id: String?, limit: Int
    ) async throws -> [Installation] {
        var parameters = PostgresParameters()
        parameters.append(owner.text)
        parameters.append(id ?? "")
        parameters.append(Int64(max(limit, 0)))
        return try await installations(.installationsOfOwner, parameters)
    }

    func devices(of owner: UserName, limit: Int) async throws -> [DeviceReference] {
        var parameters = PostgresParameters()
        parameters.append(owner.text)
        parameters.append(Int64(max(limit, 0)))
        return try await references(.devicesOfOwner, parameters)
    }

    func dueDevices(
        unseenSince: Timestamp, limit: Int, now: Timestamp
    ) async throws -> [DeviceReference] {
        var parameters = PostgresParameters()
        parameters.append(now.milliseconds)
        parameters.append(unseenSince.milliseconds)
        parameters.append(Int64(max(limit, 0)))
        return try await references(.dueDevices, parameters)
    }

    private func references(
        _ statement: PostgresStatement, _ parameters: PostgresParameters
    ) async throws -> [DeviceReference] {
        let result = try await query(statement, parameters)
        return try decoding {
            try result.map { row in
                guard let kind = DeviceLease.Kind(rawValue: try row.decode(0)) else { throw unreadable("kind") }
                return DeviceReference(kind: kind, id: try row.decode(1))
            }
        }
    }
}

extension PostgresStatement {
    /// Every ID sorts after the empty string.
    fileprivate static let installationsOfOwner = PostgresStatement(
        """
        SELECT \(installationColumns) FROM installations
        WHERE owner = $1 COLLATE "C" AND id > $2 COLLATE "C" ORDER BY owner, id LIMIT $3
        """)

    fileprivate static let devicesOfOwner = PostgresStatement(
        """
        (SELECT 0::smallint, id FROM installations WHERE owner = $1 COLLATE "C" LIMIT $2)
        UNION ALL
        (SELECT 1::smallint, id FROM registrations WHERE owner = $1 COLLATE "C" LIMIT $2)
        """)

    fileprivate static let dueDevices = PostgresStatement(
        """
        (SELECT 0::smallint, id FROM installations WHERE expires_at <= $1 ORDER BY expires_at LIMIT $3)
        UNION ALL
        (
            SELECT 0::smallint, id FROM installations
            WHERE \(PostgresStore.seenAt) <= $2 ORDER BY \(PostgresStore.seenAt) LIMIT $3
        )
        UNION ALL
        (SELECT 1::smallint, id FROM registrations WHERE updated_at <= $2 ORDER BY updated_at LIMIT $3)
        """)
}
