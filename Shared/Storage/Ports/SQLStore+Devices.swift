import Domain
import Foundations

extension SQLStore {
    func installation(_ id: String) async throws -> Installation? {
        try await installations("lower(id) = \(DeviceID.folded(id))").first
    }

    func installations(handle: String) async throws -> [Installation] {
        try await installations("handle = \(handle)")
    }

    /// Every ID sorts after the empty string.
    func installations(after id: String?, limit: Int) async throws -> [Installation] {
        try await installations("id > \(id ?? "") ORDER BY id LIMIT \(max(limit, 0))")
    }

    func installations(_ condition: SQL) async throws -> [Installation] {
        try await all(
            """
            SELECT id, owner, platform, handle, document, updated_at, last_seen_at, expires_at, encryption_key,
                encryption_key_at
            FROM installations WHERE \(condition)
            """
        ) { row in
            let id: String = try row()
            return Installation(
                id: id, owner: try row(), platform: try row(), handle: try row(), document: try row(),
                updatedAt: try row(), lastSeenAt: try row() as Timestamp, expiresAt: try row(),
                encryptionKey: try row.encryptionKey(of: id))
        }
    }

    func registration(_ id: String, owner: UserName) async throws -> Registration? {
        try await registrations("lower(id) = \(DeviceID.folded(id)) AND owner = \(owner)").first
    }

    func registration(_ id: String) async throws -> Registration? {
        try await registrations("lower(id) = \(DeviceID.folded(id))").first
    }

    func registrations(handle: String) async throws -> [Registration] {
        try await registrations("handle = \(handle)")
    }

    func registrations(after id: String?, limit: Int) async throws -> [Registration] {
        try await registrations("id > \(id ?? "") ORDER BY id LIMIT \(max(limit, 0))")
    }

    func deviceCount(of owner: UserName) async throws -> Int {
        try await all(
            """
            SELECT (SELECT count(*) FROM installations WHERE owner = \(owner))
                + (SELECT count(*) FROM registrations WHERE owner = \(owner) AND platform IS NOT NULL)
            """
        ) { row in try row() as Int }.first ?? 0
    }

    private func registrations(_ condition: SQL) async throws -> [Registration] {
        try await all(
            "SELECT id, owner, platform, handle, tags, updated_at FROM registrations WHERE \(condition)"
        ) { row in
            Registration(
                id: try row(), owner: try row(),
                // A newer version may have written a name that this one does not know.
                platform: try row.mapIfPresent(RegistrationPlatform.init(rawValue:)) ?? nil, handle: try row(),
                tags: try row.map(StorageCoding.decodeTags), updatedAt: try row())
        }
    }
}

extension SQLStore {
    /// One statement, because a dispatcher asks for the users of a whole group.
    func platforms(of users: [UserName]) async throws -> [UserName: Set<Platform>] {
        if users.isEmpty { return [:] }
        let users = Set(users)
        let rows = try await all(
            """
            SELECT 0, owner, platform FROM installations WHERE owner \(in: users)
            UNION ALL
            SELECT 1, owner, platform FROM registrations WHERE owner \(in: users) AND platform IS NOT NULL
            """
        ) { row in (kind: try row() as DeviceLease.Kind, owner: try row() as UserName, name: try row() as String) }
        return rows.reduce(into: [:]) { platforms, row in
            let platform: Platform? =
                switch row.kind {
                case .installation: Platform(rawValue: row.name)
                // A newer version may have written a name that this one does not know.
                case .registration: RegistrationPlatform(rawValue: row.name)?.platform
                }
            if let platform { platforms[row.owner, default: []].insert(platform) }
        }
    }
}
