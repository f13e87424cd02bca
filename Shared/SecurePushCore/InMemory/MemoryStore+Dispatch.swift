extension MemoryStore: DispatchStore {
    public func claim(_ ids: [NotificationID], now: Timestamp) async throws -> DispatchClaims {
        var claims = DispatchClaims()
        for id in Set(ids) {
            guard var row = rows[id] else { continue }
            guard !damaged.contains(id) else {
                claims.unreadable[id] = Self.unreadable
                continue
            }
            row.attempt += 1
            row.claimedAt = now
            if row.status == .accepted { row.status = .queued }
            rows[id] = row
            claims.plans[id] = DispatchPlan(row)
        }
        return claims
    }

    public func abandon(_ ids: [NotificationID]) async throws {
        for id in ids { outbox[id] = nil }
    }

    @discardableResult
    public func record(_ outcomes: [DispatchOutcome]) async throws -> Set<NotificationID> {
        var fenced: Set<NotificationID> = []
        for outcome in outcomes {
            guard rows[outcome.id]?.attempt == outcome.attempt else {
                fenced.insert(outcome.id)
                continue
            }
            rows[outcome.id]?.deliveries = outcome.deliveries
            rows[outcome.id]?.status = outcome.status
            rows[outcome.id]?.recordedAttempt = outcome.attempt
            if outcome.isFinal { outbox[outcome.id] = nil }
            if let due = outcome.republishAt, let row = rows[outcome.id] { enter(row.notification, until: due) }
        }
        return fenced
    }
}

extension DispatchPlan {
    fileprivate init(_ row: MemoryStore.Row) {
        let notification = row.notification
        self.init(
            id: notification.id, recipient: notification.recipient, presentation: notification.presentation,
            alert: notification.alert, platforms: notification.platforms, expiresAt: notification.expiresAt,
            expiryBoundsPush: notification.expiryBoundsPush, collapseKey: notification.collapseKey, priority: notification.priority,
            traceparent: notification.traceparent, isRevoked: row.revokedAt != nil, attempt: row.attempt,
            unrecordedClaims: row.attempt - 1 - row.recordedAttempt, deliveries: row.deliveries)
    }
}
