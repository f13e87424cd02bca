import GRDB
import SecurePushCore

extension SQLiteStore: DispatchStore {
    func claim(_ ids: [NotificationID], now: Timestamp) async throws -> DispatchClaims {
        let ids = Array(Set(ids))
        var claims = DispatchClaims()
        for (id, output) in zip(ids, try await submit(ids.map { .claim($0, now: now) })) {
            guard case .claimed(let claim?) = output else { continue }
            do {
                claims.plans[id] = try claim.get().dispatchPlan()
            } catch {
                claims.unreadable[id] = StorageError(error)
            }
        }
        return claims
    }

    func abandon(_ ids: [NotificationID]) async throws {
        _ = try await submit(ids.map { .abandon($0) })
    }

    func record(_ outcomes: [DispatchOutcome]) async throws -> Set<NotificationID> {
        var fenced: Set<NotificationID> = []
        for (outcome, output) in zip(outcomes, try await submit(outcomes.map { .record($0) })) {
            if case .recorded(false) = output { fenced.insert(outcome.id) }
        }
        return fenced
    }
}

extension SQLiteStore: Outbox {
    func lease(limit: Int, now: Timestamp, until: Timestamp) async throws -> [OutboxEntry] {
        let lease = SQLiteLease(isPublished: false, limit: limit, due: now, now: now, until: until)
        return try await execute(lease).entries
    }

    func leasePublished(
        limit: Int, due: Timestamp, now: Timestamp, until: Timestamp
    ) async throws -> PublishedLease {
        try await execute(SQLiteLease(isPublished: true, limit: limit, due: due, now: now, until: until))
    }

    private func execute(_ lease: SQLiteLease) async throws -> PublishedLease {
        guard case .leased(let result)? = try await submit([.lease(lease)]).first else { return PublishedLease() }
        return result
    }

    func confirm(_ ids: [NotificationID], until: Timestamp) async throws {
        _ = try await submit(ids.map { .confirm($0, until: until) })
    }

    /// Cheap however much waits: the count ends at 100,000, and the oldest is looked for among the first 10,000 by ID
    /// and, where none of those is due, among the first 10,000 that fell due.
    func backlog(now: Timestamp) async throws -> OutboxBacklog {
        try checkRunning()
        return try await database.read { db in
            let count = try Int.fetchOne(db.cachedStatement(sql: OutboxBacklog.bounded)) ?? 0
            for sql in [OutboxBacklog.oldestOfFirst, OutboxBacklog.oldestOfDue] {
                let oldest = try db.cachedStatement(sql: sql)
                guard let row = try Row.fetchOne(oldest, arguments: [now.milliseconds]) else { continue }
                if !row.hasNull(atIndex: 0) {
                    return OutboxBacklog(count: count, oldest: try row.notificationID(0).timestamp)
                }
            }
            return OutboxBacklog(count: count, oldest: nil)
        }
    }
}

extension OutboxBacklog {
    static let bounded =
        "SELECT count(*) FROM (SELECT 1 FROM outbox WHERE due_at < \(SQLiteSchema.never) LIMIT 100000)"

    static let oldestOfFirst = """
        SELECT min(notification_id) FROM (
            SELECT notification_id, due_at FROM outbox ORDER BY notification_id LIMIT 10000
        ) WHERE due_at <= ?
        """

    static let oldestOfDue = """
        SELECT min(notification_id) FROM (
            SELECT notification_id FROM outbox WHERE due_at <= ? ORDER BY due_at LIMIT 10000
        )
        """
}
