import Domain
import Foundations

extension SQLStore {
    func add(_ family: RefreshFamily) async throws {
        try await write { db in
            // The order of the index `refresh_tokens_owner`.
            try db.run(
                """
                DELETE FROM refresh_tokens WHERE family IN (
                    SELECT family FROM refresh_tokens WHERE owner = \(family.owner)
                    ORDER BY owner DESC, expires_at DESC LIMIT \(.all) OFFSET \(RefreshFamily.maxPerUser - 1))
                """)
            try db.run(
                """
                INSERT INTO refresh_tokens (family, owner, user_entry, token_hash, expires_at) VALUES (
                    \(family.id), \(family.owner), \(family.userEntry), \(family.tokenHash), \(family.expiresAt))
                """)
        }
    }

    func refreshFamily(_ id: [UInt8]) async throws -> RefreshFamily? {
        let columns = "owner, user_entry, token_hash, expires_at, replaced_hash, used_at"
        return try await first("SELECT \(raw: columns) FROM refresh_tokens WHERE family = \(id)") { row in
            var family = RefreshFamily(
                id: id, owner: try row(), userEntry: try row(), tokenHash: try row(), expiresAt: try row())
            if let hash: [UInt8] = try row(), let usedAt: Timestamp = try row() {
                family.replaced = RefreshFamily.ReplacedToken(hash: hash, usedAt: usedAt)
            }
            return family
        }
    }

    /// A second call with the same hash waits for the row, then finds the new hash and changes nothing.
    func renew(_ family: RefreshFamily, replacing hash: [UInt8], now: Timestamp) async throws -> Bool {
        try await run(
            """
            UPDATE refresh_tokens SET token_hash = \(family.tokenHash), expires_at = \(family.expiresAt),
                replaced_hash = \(family.replaced?.hash), used_at = \(family.replaced?.usedAt)
            WHERE family = \(family.id) AND token_hash = \(hash) AND expires_at > \(now)
            """) > 0
    }

    func removeRefreshFamily(_ id: [UInt8]) async throws {
        try await run("DELETE FROM refresh_tokens WHERE family = \(id)")
    }

    func purgeRefreshFamilies(limit: Int, now: Timestamp) async throws -> Int {
        let limit = max(limit, 0)
        return try await run(
            weight: limit,
            """
            WITH due AS (
                SELECT family FROM refresh_tokens WHERE expires_at <= \(now)
                ORDER BY expires_at LIMIT \(limit) \(.skipLocked)
            )
            DELETE FROM refresh_tokens WHERE family IN (SELECT family FROM due)
            """)
    }
}
