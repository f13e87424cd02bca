extension MemoryStore: DeadLetterLedger {
    public func records(_ ids: [NotificationID]) async throws -> [NotificationID: NotificationRecord] {
        var records: [NotificationID: NotificationRecord] = [:]
        for id in ids where !damaged.contains(id) { records[id] = rows[id].map(NotificationRecord.init) }
        return records
    }

    public func reopen(
        _ letters: [NotificationID: [Platform]], now: Timestamp
    ) async throws -> [NotificationID: ReplayDecision] {
        var results: [NotificationID: ReplayDecision] = [:]
        for (id, givenUp) in letters { results[id] = reopen(id, now: now) { $0.reopening(givenUp, now: now) } }
        return results
    }

    /// - Returns: `nil` for an unknown ID.
    func reopen(
        _ id: NotificationID, now: Timestamp,
        deciding: (NotificationRecord) -> (result: ReplayDecision, deliveries: [Delivery])
    ) -> ReplayDecision? {
        guard var row = rows[id] else { return nil }
        if damaged.contains(id) { return .unreadable }
        let (result, deliveries) = deciding(NotificationRecord(row))
        guard case .owed = result else { return result }
        row.deliveries = deliveries
        row.status = .queued
        row.attempt += 1
        // This one is no claim.
        row.recordedAttempt += 1
        rows[id] = row
        enter(row.notification, until: now + OutboxPolicy.redelivery)
        return result
    }
}

extension MemoryStore: PayloadKeyUse {
    public func payloads(sealedWith keyID: String, limit: Int, now: Timestamp) async throws -> Int {
        let sealed = rows.values.lazy.filter { $0.payload?.keyID == keyID && $0.notification.expiresAt > now }
        return sealed.prefix(max(limit, 0)).count
    }
}
