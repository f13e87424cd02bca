extension MemoryStore: AllNotifications {
    package func census(since: Timestamp, now: Timestamp) async throws -> NotificationCensus {
        let first = NotificationID.first(at: since)
        let newest = rows.values.filter { !($0.notification.id < first) }
            .sorted { $1.notification.id < $0.notification.id }.prefix(NotificationCensus.maxScan)
        var census = NotificationCensus()
        for row in newest {
            let isWaiting = outbox[row.notification.id].map { !$0.isPublished } ?? false
            census.accepted += 1
            if row.status != .accepted || !isWaiting { census.published += 1 }
            if row.deliveries.contains(where: { $0.state == .sent }) { census.pushed += 1 }
            if row.readAt != nil { census.read += 1 }
            if row.shownAt != nil { census.shown += 1 }
            if row.status == .partial { census.partial += 1 }
            if row.status == .failed { census.failed += 1 }
            if row.revokedAt != nil { census.revoked += 1 }
        }
        census.oldest = newest.map(\.notification.createdAt).min()
        let oldest = outbox.values.sorted { $0.entry.id < $1.entry.id }.prefix(NotificationCensus.maxOutboxScan)
        census.oldestUnfinished = oldest.first { $0.isPublished || $0.due <= now }?.entry.id.timestamp
        return census
    }

    package func page(_ query: OperatorQuery) async throws -> OperatorPage {
        let first = NotificationID.first(at: query.since)
        let found = rows.values.filter { row in
            let id = row.notification.id
            return !(id < first) && query.before.map { id < $0 } ?? true
                && query.recipient.map { $0 == row.notification.recipient } ?? true
                && (!query.onlyFailed || row.revokedAt == nil && (row.status == .partial || row.status == .failed))
        }
        .sorted { $1.notification.id < $0.notification.id }
        let entries = found.prefix(max(query.limit, 0)).map {
            OperatorPage.Entry(record: NotificationRecord($0), sender: $0.notification.sender)
        }
        return OperatorPage(entries: entries, next: found.count > entries.count ? entries.last?.record.id : nil)
    }

    package func life(of id: NotificationID) async throws -> NotificationLife? {
        guard let row = rows[id] else { return nil }
        if damaged.contains(id) { throw Self.unreadable }
        let state = outbox[id].map { entry -> NotificationLife.OutboxState in
            entry.isPublished ? .published : .waiting(due: entry.due)
        }
        return NotificationLife(
            record: recordWithFollowUps(row), sender: row.notification.sender, attempt: row.attempt,
            outbox: state ?? .none)
    }
}
