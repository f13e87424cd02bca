extension MemoryStore: Outbox {
    public func lease(limit: Int, now: Timestamp, until: Timestamp) async throws -> [OutboxEntry] {
        take(limit: limit, isPublished: false, due: now, now: now, until: until).entries
    }

    public func leasePublished(
        limit: Int, due: Timestamp, now: Timestamp, until: Timestamp
    ) async throws -> PublishedLease {
        take(limit: limit, isPublished: true, due: due, now: now, until: until)
    }

    private func take(
        limit: Int, isPublished: Bool, due: Timestamp, now: Timestamp, until: Timestamp
    ) -> PublishedLease {
        let found = outbox.values.filter { $0.isPublished == isPublished && $0.due <= due }
            .sorted { ($0.due, $0.entry.id) < ($1.due, $1.entry.id) }
            .prefix(max(limit, 0))
        var lease = PublishedLease(examined: found.count)
        for waiting in found {
            let id = waiting.entry.id
            guard let row = rows[id], !row.isFinal else {
                outbox[id] = nil
                continue
            }
            if let end = OutboxPolicy.end(ofClaimAt: row.claimedAt, now: now) {
                outbox[id] = Waiting(entry: waiting.entry, due: end, isPublished: true)
            } else {
                outbox[id]?.due = until
                lease.entries.append(waiting.entry)
            }
        }
        return lease
    }

    public func confirm(_ ids: [NotificationID], until: Timestamp) async throws {
        for id in ids where outbox[id]?.isPublished == false {
            outbox[id]?.isPublished = true
            outbox[id]?.due = until
        }
    }

    public func backlog(now: Timestamp) async throws -> OutboxBacklog {
        let unpublished = outbox.values.filter { !$0.isPublished }
        let oldest = unpublished.filter { $0.due <= now }.map(\.entry.id).min()
        return OutboxBacklog(count: unpublished.count, oldest: oldest?.timestamp)
    }

    /// The ID is with the broker, and due again at a time.
    func enter(_ notification: Notification, until: Timestamp) {
        let entry = OutboxEntry(id: notification.id, traceparent: notification.traceparent)
        outbox[notification.id] = Waiting(entry: entry, due: until, isPublished: true)
    }
}

extension MemoryStore.Row {
    /// Whether nothing more is to be done for it.
    fileprivate var isFinal: Bool { status != .accepted && status != .queued }
}
