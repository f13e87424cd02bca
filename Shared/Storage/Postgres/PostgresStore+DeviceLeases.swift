import Postgres
import SecurePushCore

extension PostgresStore {
    func lease(
        _ kind: DeviceLease.Kind, _ id: String, if condition: DeviceLease.Condition, now: Timestamp
    ) async throws -> DeviceLease.Outcome {
        try Task.checkCancellation()
        let token = Int64.random(in: .min ... .max)
        let asked = condition.parameters
        var parameters = PostgresParameters(capacity: (asked.installation?.document.count ?? 0) + 1024)
        parameters.append(kind.rawValue)
        parameters.append(id)
        parameters.append(asked.code)
        parameters.append(asked.owner?.text)
        parameters.append(asked.handles) { $0 }
        parameters.append(asked.installation?.platform.rawValue)
        parameters.append(asked.installation?.handle)
        parameters.append(asked.installation?.document)
        parameters.append(asked.installation?.updatedAt.milliseconds)
        parameters.append(Int32(Installation.maxPerUser))
        parameters.append(token)
        parameters.append(now.milliseconds)
        parameters.append((now + DeviceLease.duration).milliseconds)
        parameters.append(asked.installation?.lastSeenAt.milliseconds)
        parameters.append(asked.installation?.expiresAt?.milliseconds)
        // Who is cancelled from here on has the lease, and gives it back.
        let result = try await finish(.lease, parameters)
        return try decoding {
            guard let row = result.first else { throw unreadable("outcome") }
            switch try row.decode(0, as: Int16.self) {
            case let outcome where outcome <= 1:
                let id = try row.decode(1, as: String.self)
                let isInDoubt = try row.decode(2, as: Bool.self)
                return .leased(
                    DeviceLease(kind: kind, id: id, token: token, isNew: outcome == 1, isInDoubt: isInDoubt))
            case 2: return .busy
            case 3: return .refused
            default: return .tooMany
            }
        }
    }

    func end(_ lease: DeviceLease, _ change: DeviceLease.Change, now: Timestamp) async throws -> Bool {
        var code: Int16 = 2
        var (installation, registration): (Installation?, Registration?)
        var handles: [String] = []
        switch change {
        case .keep: code = 0
        case .remove: code = 1
        case .saveInstallation(let saved, let spellings): (installation, handles) = (saved, spellings)
        case .saveRegistration(let saved, let spellings): (registration, handles) = (saved, spellings)
        }
        var parameters = PostgresParameters(capacity: (installation?.document.count ?? 0) + 1024)
        parameters.append(lease.kind.rawValue)
        parameters.append(installation?.id ?? registration?.id ?? lease.id)
        parameters.append(lease.token)
        parameters.append(code)
        parameters.append((installation?.owner ?? registration?.owner)?.text)
        parameters.append(installation?.platform.rawValue ?? registration?.platform?.rawValue)
        parameters.append(installation?.handle ?? registration?.handle)
        parameters.append(installation?.document)
        parameters.append(registration.map { StorageCoding.encode(tags: $0.tags) })
        parameters.append((installation?.updatedAt ?? registration?.updatedAt)?.milliseconds)
        parameters.append(handles) { $0 }
        parameters.append(now.milliseconds)
        parameters.append(installation?.lastSeenAt.milliseconds)
        parameters.append(installation?.expiresAt?.milliseconds)
        let result = try await finish(.endLease, parameters)
        return try decoding { try result.first?.decode(0, as: Bool.self) ?? false }
    }

    func expire(_ lease: DeviceLease, now: Timestamp) async throws {
        var parameters = PostgresParameters()
        parameters.append(lease.kind.rawValue)
        parameters.append(lease.id)
        parameters.append(lease.token)
        parameters.append(now.milliseconds)
        _ = try await finish(.expireLease, parameters)
    }

    func expiredLeases(limit: Int, now: Timestamp) async throws -> [DeviceLease.Expired] {
        var parameters = PostgresParameters()
        parameters.append(now.milliseconds)
        parameters.append(Int64(max(limit, 0)))
        let result = try await query(.expiredLeases, parameters)
        return try decoding {
            try result.map { row in
                guard let kind = DeviceLease.Kind(rawValue: try row.decode(0)) else { throw unreadable("kind") }
                return DeviceLease.Expired(kind: kind, id: try row.decode(1))
            }
        }
    }

    func leaseNewHandle(now: Timestamp, until: Timestamp) async throws -> String? {
        for statement in [PostgresStatement.newInstallationHandle, .newRegistrationHandle] {
            var parameters = PostgresParameters()
            parameters.append(now.milliseconds)
            parameters.append(until.milliseconds)
            let result = try await query(statement, parameters)
            if let row = result.first { return try decoding { try row.decodeIfPresent(0) } }
        }
        return nil
    }

    func settleNewHandle(_ handles: [String]) async throws {
        var parameters = PostgresParameters()
        parameters.append(handles) { $0 }
        _ = try await query(.settleNewHandle, parameters)
    }
}

extension DeviceLease.Condition {
    fileprivate typealias Parameters = (
        code: Int16, owner: UserName?, handles: [String], installation: Installation?
    )

    /// The arguments of `lease_device`.
    fileprivate var parameters: Parameters {
        switch self {
        case .owned(let user): (0, user, [], nil)
        case .claimed(let installation, let handles): (1, installation.owner, handles, installation)
        case .holding(let handles): (2, nil, handles, nil)
        case .absent: (3, nil, [], nil)
        case .any: (4, nil, [], nil)
        case .new(let user): (5, user, [], nil)
        }
    }
}

extension PostgresStatement {
    fileprivate static let lease = PostgresStatement(
        """
        SELECT outcome, device_id, is_in_doubt FROM lease_device(
            $1::smallint, $2::text, $3::smallint, $4::text, $5::text[], $6::text, $7::text, $8::bytea, $9::bigint,
            $10::integer, $11::bigint, $12::bigint, $13::bigint, $14::bigint, $15::bigint)
        """)

    fileprivate static let endLease = PostgresStatement(
        """
        SELECT end_device_lease(
            $1::smallint, $2::text, $3::bigint, $4::smallint, $5::text, $6::text, $7::text, $8::bytea, $9::text,
            $10::bigint, $11::text[], $12::bigint, $13::bigint, $14::bigint)
        """)

    fileprivate static let expireLease = PostgresStatement(
        """
        UPDATE device_leases SET until = $4
        WHERE kind = $1::smallint AND key = lower($2::text COLLATE "C") AND token = $3
        """)

    fileprivate static let expiredLeases = PostgresStatement(
        "SELECT kind, id FROM device_leases WHERE until <= $1 ORDER BY until LIMIT $2")

    fileprivate static let newInstallationHandle = newHandle("installations")
    fileprivate static let newRegistrationHandle = newHandle("registrations")

    /// Skips rows locked by another process.
    private static func newHandle(_ table: String) -> PostgresStatement {
        PostgresStatement(
            """
            UPDATE \(table) SET new_handle_at = $2 WHERE id = (
                SELECT id FROM \(table) WHERE new_handle_at <= $1 ORDER BY new_handle_at LIMIT 1
                FOR UPDATE SKIP LOCKED
            ) RETURNING handle
            """)
    }

    fileprivate static let settleNewHandle = PostgresStatement(
        """
        WITH installed AS (
            UPDATE installations AS i SET new_handle_at = NULL FROM unnest($1::text[]) AS settled (handle)
            WHERE i.handle = settled.handle COLLATE "C" AND i.new_handle_at IS NOT NULL
        )
        UPDATE registrations AS r SET new_handle_at = NULL FROM unnest($1::text[]) AS settled (handle)
        WHERE r.handle = settled.handle COLLATE "C" AND r.new_handle_at IS NOT NULL
        """)
}
