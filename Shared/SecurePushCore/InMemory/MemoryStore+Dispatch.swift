extension MemoryStore: Outbox {
    public func lease(limit: Int, now: Timestamp, until: Timestamp) async throws -> [OutboxEntry] {
        let due = outbox.values.filter { $0.due <= now }
            .sorted { ($0.due, $0.entry.id) < ($1.due, $1.entry.id) }
            .prefix(max(limit, 0))
        for waiting in due { outbox[waiting.entry.id]?.due = until }
        return due.map(\.entry)
    }

    public func remove(_ ids: [NotificationID]) async throws {
        for id in ids { outbox[id] = nil }
    }

    public func backlog(now: Timestamp) async throws -> OutboxBacklog {
        let oldest = outbox.values.filter { $0.due <= now }.map(\.entry.id).min()
        return OutboxBacklog(count: outbox.count, oldest: oldest?.timestamp)
    }
}

extension MemoryStore: DispatchLedger {
    public func claim(_ ids: [NotificationID], now: Timestamp) async throws -> [NotificationID: DispatchPlan] {
        var plans: [NotificationID: DispatchPlan] = [:]
        for id in Set(ids) {
            guard var row = rows[id] else { continue }
            row.attempt += 1
            row.status = .queued
            rows[id] = row
            plans[id] = DispatchPlan(row)
        }
        return plans
    }

    public func record(_ outcomes: [DispatchOutcome]) async throws {
        for outcome in outcomes where rows[outcome.id]?.attempt == outcome.attempt {
            rows[outcome.id]?.deliveries = outcome.deliveries
            rows[outcome.id]?.status = outcome.status
        }
    }
}

extension DispatchPlan {
    fileprivate init(_ row: MemoryStore.Row) {
        let notification = row.notification
        self.init(
            id: notification.id, recipient: notification.recipient, presentation: notification.presentation,
            alert: notification.alert, platforms: notification.platforms, expiresAt: notification.expiresAt,
            boundsPush: notification.boundsPush, collapseKey: notification.collapseKey, priority: notification.priority,
            traceparent: notification.traceparent, isRevoked: row.revokedAt != nil, attempt: row.attempt,
            deliveries: row.deliveries)
    }
}
