import Foundation
import GRDB
import SecurePushCore

extension SQLiteStore {
    func add(_ family: RefreshFamily) async throws {
        _ = try await submit([.refresh(.add(family))])
    }

    func refreshFamily(_ id: [UInt8]) async throws -> RefreshFamily? {
        try checkRunning()
        return try await database.read { db in
            let statement = try db.cachedStatement(sql: SQLiteRefreshChange.find)
            return try Row.fetchOne(statement, arguments: [Data(id)]).map { row in
                var family = RefreshFamily(
                    id: id, owner: try row.userName(0, column: "owner"),
                    userEntry: try row.value(1, column: "user_entry"),
                    tokenHash: try row.bytes(2, column: "token_hash"),
                    expiresAt: Timestamp(milliseconds: try row.value(3, column: "expires_at")))
                if let usedAt: Int64 = try row.valueIfPresent(5, column: "used_at") {
                    family.replaced = RefreshFamily.ReplacedToken(
                        hash: try row.bytes(4, column: "replaced_hash"), usedAt: Timestamp(milliseconds: usedAt))
                }
                return family
            }
        }
    }

    func renew(
        _ family: RefreshFamily, replacing hash: [UInt8], now: Timestamp
    ) async throws -> Bool {
        let outputs = try await submit([.refresh(.renew(family, replacing: hash, now: now))])
        guard case .refreshed(let count)? = outputs.first else { return false }
        return count > 0
    }

    func removeRefreshFamily(_ id: [UInt8]) async throws {
        _ = try await submit([.refresh(.remove(id))])
    }

    func purgeRefreshFamilies(limit: Int, now: Timestamp) async throws -> Int {
        let outputs = try await submit([.refresh(.purge(limit: max(limit, 0), now: now))])
        guard case .refreshed(let count)? = outputs.first else { return 0 }
        return count
    }
}

/// A change of refresh tokens. The transaction holds the writer's lock, so of two refreshes with one token the second
/// finds another hash.
enum SQLiteRefreshChange: Sendable {
    case add(RefreshFamily)
    case renew(RefreshFamily, replacing: [UInt8], now: Timestamp)
    case remove([UInt8])
    case purge(limit: Int, now: Timestamp)

    /// - Returns: the number of families that were changed.
    func execute(_ db: Database) throws -> Int {
        switch self {
        case .add(let family):
            try db.cachedStatement(sql: Self.removeSurplus)
                .execute(arguments: [family.owner.text, RefreshFamily.maxPerUser - 1])
            try db.cachedStatement(sql: Self.insert).execute(arguments: [
                Data(family.id), family.owner.text, family.userEntry, Data(family.tokenHash),
                family.expiresAt.milliseconds,
            ])
        case .renew(let family, let hash, let now):
            try db.cachedStatement(sql: Self.renew).execute(arguments: [
                Data(family.tokenHash), family.expiresAt.milliseconds, family.replaced.map { Data($0.hash) },
                family.replaced?.usedAt.milliseconds, Data(family.id), Data(hash), now.milliseconds,
            ])
        case .remove(let id):
            try db.cachedStatement(sql: Self.remove).execute(arguments: [Data(id)])
        case .purge(let limit, let now):
            try db.cachedStatement(sql: Self.purge).execute(arguments: [now.milliseconds, limit])
        }
        return db.changesCount
    }

    static let find = """
        SELECT owner, user_entry, token_hash, expires_at, replaced_hash, used_at FROM refresh_tokens WHERE family = ?
        """
    static let insert = """
        INSERT INTO refresh_tokens (family, owner, user_entry, token_hash, expires_at) VALUES (?, ?, ?, ?, ?)
        """
    static let removeSurplus = """
        DELETE FROM refresh_tokens WHERE family IN (
            SELECT family FROM refresh_tokens WHERE owner = ? ORDER BY expires_at DESC LIMIT -1 OFFSET ?)
        """
    static let renew = """
        UPDATE refresh_tokens SET token_hash = ?, expires_at = ?, replaced_hash = ?, used_at = ?
        WHERE family = ? AND token_hash = ? AND expires_at > ?
        """
    static let remove = "DELETE FROM refresh_tokens WHERE family = ?"
    static let purge = """
        DELETE FROM refresh_tokens WHERE family IN (
            SELECT family FROM refresh_tokens WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)
        """

    static let statements = [find, removeSurplus, renew, remove, purge]
}

extension SQLiteSchema {
    /// No row is rewritten. A family without `replaced_hash` was not refreshed since.
    static let replacedTokens = """
        ALTER TABLE refresh_tokens ADD COLUMN replaced_hash BLOB;
        ALTER TABLE refresh_tokens ADD COLUMN used_at INTEGER;
        """
}
