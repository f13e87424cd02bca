extension MemoryStore: DeadLetterLedger {
    public func records(_ ids: [NotificationID]) async throws -> [NotificationID: NotificationRecord] {
        var records: [NotificationID: NotificationRecord] = [:]
        for id in ids where !damaged.contains(id) { records[id] = rows[id].map(NotificationRecord.init) }
        return records
    }

    public func reopen(
        _ letters: [NotificationID: [Platform]], now: Timestamp
    ) async throws -> [NotificationID: Reopening] {
        var results: [NotificationID: Reopening] = [:]
        for (id, givenUp) in letters {
            guard var row = rows[id] else { continue }
            guard !damaged.contains(id) else {
                results[id] = .unreadable
                continue
            }
            let (result, deliveries) = NotificationRecord(row).reopening(givenUp, now: now)
            results[id] = result
            guard case .owed = result else { continue }
            row.deliveries = deliveries
            row.status = .queued
            row.attempt += 1
            // This one is no claim.
            row.recordedAttempt += 1
            rows[id] = row
            enter(row.notification, until: now + OutboxPolicy.redelivery)
        }
        return results
    }
}

extension MemoryStore: PayloadKeyUse {
    public func payloads(sealedWith keyID: String, limit: Int, now: Timestamp) async throws -> Int {
        let sealed = rows.values.lazy.filter { $0.payload?.keyID == keyID && $0.notification.expiresAt > now }
        return sealed.prefix(max(limit, 0)).count
    }
}
