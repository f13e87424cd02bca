import GRDB
import SecurePushCore

extension SQLiteStore: DispatchLedger {
    func claim(_ ids: [NotificationID], now: Timestamp) async throws -> [NotificationID: DispatchPlan] {
        var plans: [NotificationID: DispatchPlan] = [:]
        for case .claimed(let claim?) in try await submit(Set(ids).map { .claim($0) }) {
            let plan = try claim.dispatchPlan()
            plans[plan.id] = plan
        }
        return plans
    }

    func record(_ outcomes: [DispatchOutcome]) async throws {
        _ = try await submit(outcomes.map { .record($0) })
    }
}

extension SQLiteStore: Outbox {
    func lease(limit: Int, now: Timestamp, until: Timestamp) async throws -> [OutboxEntry] {
        guard case .leased(let entries)? = try await submit([.lease(limit: limit, now: now, until: until)]).first else {
            return []
        }
        return entries
    }

    func remove(_ ids: [NotificationID]) async throws {
        _ = try await submit(ids.map { .remove($0) })
    }

    func backlog(now: Timestamp) async throws -> OutboxBacklog {
        try checkRunning()
        return try await database.read { db in
            let count = try Int.fetchOne(db.cachedStatement(sql: "SELECT count(*) FROM outbox")) ?? 0
            let oldest = try db.cachedStatement(sql: "SELECT min(notification_id) FROM outbox WHERE due_at <= ?")
            guard let row = try Row.fetchOne(oldest, arguments: [now.milliseconds]), !row.hasNull(atIndex: 0) else {
                return OutboxBacklog(count: count, oldest: nil)
            }
            return OutboxBacklog(count: count, oldest: try row.notificationID(0).timestamp)
        }
    }
}
