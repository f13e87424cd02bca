import GRDB
import SecurePushCore

extension SQLiteStore {
    func lease(
        _ kind: DeviceLease.Kind, _ id: String, if condition: DeviceLease.Condition, now: Timestamp
    ) async throws -> DeviceLease.Outcome {
        let change = SQLiteDeviceChange.lease(kind, id, condition, now: now)
        guard case .deviceLease(let outcome)? = try await submit([.device(change)]).first else { return .refused }
        return outcome
    }

    func end(_ lease: DeviceLease, _ change: DeviceLease.Change, now: Timestamp) async throws -> Bool {
        let change = SQLiteDeviceChange.end(lease, change, now: now)
        guard case .deviceLeaseEnded(let wasHeld)? = try await submit([.device(change)]).first else { return false }
        return wasHeld
    }

    func expire(_ lease: DeviceLease, now: Timestamp) async throws {
        _ = try await submit([.device(.expire(lease, now: now))])
    }

    func expiredLeases(limit: Int, now: Timestamp) async throws -> [DeviceLease.Expired] {
        try checkRunning()
        return try await database.read { db in
            let statement = try db.cachedStatement(sql: SQLiteDeviceChange.expired)
            return try Row.fetchAll(statement, arguments: [now.milliseconds, max(limit, 0)]).map { row in
                guard let kind = DeviceLease.Kind(rawValue: row[0]) else { throw Row.unreadable("kind") }
                return DeviceLease.Expired(kind: kind, id: row[1])
            }
        }
    }

    func leaseNewHandle(now: Timestamp, until: Timestamp) async throws -> String? {
        let change = SQLiteDeviceChange.leaseNewHandle(now: now, until: until)
        guard case .newHandle(let handle)? = try await submit([.device(change)]).first else { return nil }
        return handle
    }

    func settleNewHandle(_ handles: [String]) async throws {
        _ = try await submit([.device(.settleNewHandle(handles))])
    }
}

extension SQLiteStore {
    func installation(_ id: String) async throws -> Installation? {
        try checkRunning()
        return try await database.read { db in
            let statement = try db.cachedStatement(sql: Installation.byID)
            return try Row.fetchOne(statement, arguments: [id]).map { try Installation($0) }
        }
    }

    func installations(handle: String) async throws -> [Installation] {
        try checkRunning()
        return try await database.read { db in
            let statement = try db.cachedStatement(sql: Installation.byHandle)
            return try Row.fetchAll(statement, arguments: [handle]).map { try Installation($0) }
        }
    }

    func installations(after id: String?, limit: Int) async throws -> [Installation] {
        try checkRunning()
        return try await database.read { db in
            let statement = try db.cachedStatement(sql: Installation.afterID)
            return try Row.fetchAll(statement, arguments: [id ?? "", max(limit, 0)]).map { try Installation($0) }
        }
    }
}

extension Installation {
    static let byID = "SELECT \(columns) FROM installations WHERE id = ? COLLATE NOCASE"
    static let byHandle = "SELECT \(columns) FROM installations WHERE handle = ? ORDER BY id"
    /// Every ID sorts after the empty string.
    static let afterID = "SELECT \(columns) FROM installations WHERE id > ? ORDER BY id LIMIT ?"
}

extension SQLiteStore {
    func registration(_ id: String, owner: UserName) async throws -> Registration? {
        try checkRunning()
        return try await database.read { db in
            let statement = try db.cachedStatement(sql: Registration.byIDAndOwner)
            return try Row.fetchOne(statement, arguments: [id, owner.text]).map { try Registration($0) }
        }
    }

    func registration(_ id: String) async throws -> Registration? {
        try checkRunning()
        return try await database.read { db in
            let statement = try db.cachedStatement(sql: Registration.byID)
            return try Row.fetchOne(statement, arguments: [id]).map { try Registration($0) }
        }
    }

    func registrations(handle: String) async throws -> [Registration] {
        try checkRunning()
        return try await database.read { db in
            let statement = try db.cachedStatement(sql: Registration.byHandle)
            return try Row.fetchAll(statement, arguments: [handle]).map { try Registration($0) }
        }
    }

    func registrations(after id: String?, limit: Int) async throws -> [Registration] {
        try checkRunning()
        return try await database.read { db in
            let statement = try db.cachedStatement(sql: Registration.afterID)
            return try Row.fetchAll(statement, arguments: [id ?? "", max(limit, 0)]).map { try Registration($0) }
        }
    }
}

extension Registration {
    static let byID = "SELECT \(columns) FROM registrations WHERE id = ? COLLATE NOCASE"
    static let byIDAndOwner = "\(byID) AND owner = ?"
    static let byHandle = "SELECT \(columns) FROM registrations WHERE handle = ? ORDER BY id"
    /// Every ID sorts after the empty string.
    static let afterID = "SELECT \(columns) FROM registrations WHERE id > ? ORDER BY id LIMIT ?"
}

extension SQLiteStore {
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
