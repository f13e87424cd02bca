import GRDB
import SecurePushCore

extension SQLiteStore {
    func installations(
        of owner: UserName, after id: String?, limit: Int
    ) async throws -> [Installation] {
        try checkRunning()
        return try await database.read { db in
            let statement = try db.cachedStatement(sql: Installation.ofOwner)
            return try Row.fetchAll(statement, arguments: [owner.text, id ?? "", max(limit, 0)])
                .map { try Installation($0) }
        }
    }

    func devices(of owner: UserName, limit: Int) async throws -> [DeviceReference] {
        try checkRunning()
        return try await database.read { db in
            try DeviceLease.Kind.allCases.flatMap { kind in
                let statement = try db.cachedStatement(sql: DeviceReference.ofOwner(kind))
                return try String.fetchAll(statement, arguments: [owner.text, max(limit, 0)])
                    .map { DeviceReference(kind: kind, id: $0) }
            }
        }
    }

    func dueDevices(
        unseenSince: Timestamp, limit: Int, now: Timestamp
    ) async throws -> [DeviceReference] {
        try checkRunning()
        let queries: [(kind: DeviceLease.Kind, sql: String, time: Timestamp)] = [
            (.installation, DeviceReference.expired, now),
            (.installation, DeviceReference.unseenInstallations, unseenSince),
            (.registration, DeviceReference.unseenRegistrations, unseenSince),
        ]
        return try await database.read { db in
            try queries.flatMap { query in
                let statement = try db.cachedStatement(sql: query.sql)
                return try String.fetchAll(statement, arguments: [query.time.milliseconds, max(limit, 0)])
                    .map { DeviceReference(kind: query.kind, id: $0) }
            }
        }
    }
}

extension Installation {
    /// Every ID sorts after the empty string.
    static let ofOwner = "SELECT \(columns) FROM installations WHERE owner = ? AND id > ? ORDER BY id LIMIT ?"
}

extension DeviceReference {
    static func ofOwner(_ kind: DeviceLease.Kind) -> String {
        "SELECT id FROM \(kind == .installation ? "installations" : "registrations") WHERE owner = ? LIMIT ?"
    }

    static let expired = "SELECT id FROM installations WHERE expires_at <= ? ORDER BY expires_at LIMIT ?"
    static let unseenInstallations =
        "SELECT id FROM installations WHERE \(SQLiteSchema.seenAt) <= ? ORDER BY \(SQLiteSchema.seenAt) LIMIT ?"
    static let unseenRegistrations = "SELECT id FROM registrations WHERE updated_at <= ? ORDER BY updated_at LIMIT ?"

    static let statements = [
        Installation.ofOwner, ofOwner(.installation), ofOwner(.registration), expired, unseenInstallations,
        unseenRegistrations,
    ]
}
