import Postgres
import SecurePushCore

extension PostgresStore {
    func add(_ family: RefreshFamily) async throws {
        var parameters = PostgresParameters()
        parameters.append(family.id)
        parameters.append(family.owner.text)
        parameters.append(family.userEntry)
        parameters.append(family.tokenHash)
        parameters.append(family.expiresAt.milliseconds)
        parameters.append(Int64(RefreshFamily.maxPerUser - 1))
        _ = try await query(.addFamily, parameters)
    }

    func refreshFamily(_ id: [UInt8]) async throws -> RefreshFamily? {
        var parameters = PostgresParameters()
        parameters.append(id)
        let result = try await query(.family, parameters)
        return try decoding {
            try result.first.map { row in
                var family = RefreshFamily(
                    id: id, owner: try row.userName(0), userEntry: try row.decode(1), tokenHash: try row.decode(2),
                    expiresAt: try row.timestamp(3))
                if let hash = try row.decodeIfPresent(4, as: [UInt8].self), let usedAt = try row.timestampIfPresent(5) {
                    family.replaced = RefreshFamily.ReplacedToken(hash: hash, usedAt: usedAt)
                }
                return family
            }
        }
    }

    func renew(
        _ family: RefreshFamily, replacing hash: [UInt8], now: Timestamp
    ) async throws -> Bool {
        var parameters = PostgresParameters()
        parameters.append(family.id)
        parameters.append(hash)
        parameters.append(family.tokenHash)
        parameters.append(family.expiresAt.milliseconds)
        parameters.append(now.milliseconds)
        parameters.append(family.replaced?.hash)
        parameters.append(family.replaced?.usedAt.milliseconds)
        return try await query(.renewFamily, parameters).affectedRows > 0
    }

    func removeRefreshFamily(_ id: [UInt8]) async throws {
        var parameters = PostgresParameters()
        parameters.append(id)
        _ = try await query(.removeFamily, parameters)
    }

    func purgeRefreshFamilies(limit: Int, now: Timestamp) async throws -> Int {
        var parameters = PostgresParameters()
        parameters.append(Int64(max(limit, 0)))
        parameters.append(now.milliseconds)
        return try await query(.purgeFamilies, parameters).affectedRows
    }
}

extension PostgresMigration {
    // No row is rewritten. A family without `replaced_hash` was not refreshed since. A process of the previous version
    // does not set the columns and ends a family whose token is used again.
    static let replacedTokens = PostgresMigration(
        version: 16, name: "0016_replaced_tokens",
        statements: ["ALTER TABLE refresh_tokens ADD COLUMN replaced_hash bytea, ADD COLUMN used_at bigint"])
}

extension PostgresStatement {
    fileprivate static let addFamily = PostgresStatement(
        """
        WITH surplus AS (
            SELECT family FROM refresh_tokens WHERE owner = $2 COLLATE "C"
            ORDER BY owner DESC, expires_at DESC OFFSET $6
        ), removed AS (
            DELETE FROM refresh_tokens USING surplus WHERE refresh_tokens.family = surplus.family
        )
        INSERT INTO refresh_tokens (family, owner, user_entry, token_hash, expires_at) VALUES ($1, $2, $3, $4, $5)
        """)

    fileprivate static let family = PostgresStatement(
        """
        SELECT owner, user_entry, token_hash, expires_at, replaced_hash, used_at FROM refresh_tokens WHERE family = $1
        """)

    /// A second call with the same hash waits for the row, then finds the new hash and changes nothing.
    fileprivate static let renewFamily = PostgresStatement(
        """
        UPDATE refresh_tokens SET token_hash = $3, expires_at = $4, replaced_hash = $6, used_at = $7
        WHERE family = $1 AND token_hash = $2 AND expires_at > $5
        """)

    fileprivate static let removeFamily = PostgresStatement("DELETE FROM refresh_tokens WHERE family = $1")

    /// Skips rows locked by another process.
    fileprivate static let purgeFamilies = PostgresStatement(
        """
        WITH due AS (
            SELECT family FROM refresh_tokens WHERE expires_at <= $2
            ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED
        )
        DELETE FROM refresh_tokens USING due WHERE refresh_tokens.family = due.family
        """)
}
