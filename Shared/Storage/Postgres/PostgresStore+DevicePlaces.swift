import Postgres
import SecurePushCore

extension PostgresStore {
    func places(of kind: DeviceLease.Kind, _ ids: [String]) async throws -> [String: [DevicePlace]] {
        if ids.isEmpty { return [:] }
        var parameters = PostgresParameters(capacity: ids.count * 48 + 32)
        parameters.append(kind.rawValue)
        parameters.append(ids) { DeviceID.folded($0) }
        let result = try await query(.places, parameters)
        return try decoding {
            var found: [String: [DevicePlace]] = [:]
            for row in result {
                let place = DevicePlace(hub: try row.decode(1), content: try row.decodeIfPresent(2))
                found[try row.decode(0, as: String.self), default: []].append(place)
            }
            return found
        }
    }

    func setPlaces(_ places: [DevicePlace], of lease: DeviceLease) async throws -> Bool {
        var parameters = PostgresParameters()
        parameters.append(lease.kind.rawValue)
        parameters.append(DeviceID.folded(lease.id))
        parameters.append(lease.token)
        parameters.append(places) { $0.hub }
        parameters.append(places) { $0.content }
        let result = try await finish(.setPlaces, parameters)
        return try decoding { try result.first?.decode(0, as: Bool.self) ?? false }
    }

    func placesWithoutDevice(
        of kind: DeviceLease.Kind, after id: String?, limit: Int
    ) async throws -> [DeviceReference] {
        let statement = kind == .installation ? PostgresStatement.withoutInstallation : .withoutRegistration
        var found: [DeviceReference] = []
        // The statements look at some devices each: of millions, hardly one is missing, and a statement's time is
        // limited.
        var next: String? = id.map(DeviceID.folded) ?? ""
        while let after = next, found.count < limit {
            var parameters = PostgresParameters()
            parameters.append(after)
            let result = try await query(statement, parameters)
            next = try decoding {
                var last: String?
                for row in result {
                    if try row.decode(1, as: Bool.self) {
                        found.append(DeviceReference(kind: kind, id: try row.decode(0)))
                    } else {
                        last = try row.decodeIfPresent(0)
                    }
                }
                return last
            }
        }
        return Array(found.prefix(max(limit, 0)))
    }
}

extension PostgresStatement {
    fileprivate static let places = PostgresStatement(
        """
        SELECT key, hub, content FROM device_places WHERE kind = $1::smallint AND key = ANY ($2::text[])
        ORDER BY key, hub
        """)

    /// The rows that stay are not deleted first: a statement must not change a row twice.
    fileprivate static let setPlaces = PostgresStatement(
        """
        WITH held AS (
            SELECT 1 FROM device_leases WHERE kind = $1::smallint AND key = $2::text AND token = $3 FOR UPDATE
        ), removed AS (
            DELETE FROM device_places USING held
            WHERE kind = $1::smallint AND key = $2::text AND hub <> ALL ($4::text[])
        ), saved AS (
            INSERT INTO device_places (kind, key, hub, content)
            SELECT $1::smallint, $2::text, place.hub, place.content
            FROM held, unnest($4::text[], $5::bigint[]) AS place (hub, content)
            ON CONFLICT (kind, key, hub) DO UPDATE SET content = excluded.content
        )
        SELECT EXISTS (SELECT FROM held)
        """)

    fileprivate static let withoutInstallation = withoutDevice("installations", .installation)
    fileprivate static let withoutRegistration = withoutDevice("registrations", .registration)

    /// The missing ones of the next devices, and the last of these, which is NULL at the end. Every ID sorts after the
    /// empty string.
    private static func withoutDevice(_ table: String, _ kind: DeviceLease.Kind) -> PostgresStatement {
        PostgresStatement(
            """
            WITH looked AS MATERIALIZED (
                SELECT DISTINCT key FROM device_places WHERE kind = \(kind.rawValue) AND key > $1 COLLATE "C"
                ORDER BY key LIMIT 1000
            )
            SELECT key, true FROM looked
            WHERE NOT EXISTS (SELECT FROM \(table) AS device WHERE lower(device.id) = looked.key)
            UNION ALL SELECT max(key), false FROM looked
            ORDER BY 1
            """)
    }
}

extension PostgresMigration {
    // The hubs at which a device may be (HUB_POOL_FILE); no rows without a pool. A row outlives its device until the
    // hub has deleted the device. Keys are folded IDs.
    static let devicePlaces = PostgresMigration(
        version: 14, name: "0014_device_places",
        statements: [
            """
            CREATE TABLE device_places (
                kind smallint NOT NULL,
                key text COLLATE "C" NOT NULL,
                hub text COLLATE "C" NOT NULL,
                content bigint,
                PRIMARY KEY (kind, key, hub)
            )
            """
        ])
}
