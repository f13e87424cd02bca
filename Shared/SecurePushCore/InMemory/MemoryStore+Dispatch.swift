extension MemoryStore: DispatchStore {
    package func begin(_ ids: [NotificationID], now: Timestamp) async throws -> DispatchClaims {
        var claims = DispatchClaims()
        for id in ids {
            guard let row = rows[id], row.isFirstAttemptOpen, let entry = outbox[id],
                entry.due > now + OutboxPolicy.notice, row.notification.earlyTime(at: now) == nil
            else { continue }
            if damaged.contains(id) {
                claims.unreadable[id] = Self.unreadable
            } else {
                claims.plans[id] = DispatchPlan(row)
            }
        }
        return claims
    }

    package func enter(_ ids: [NotificationID], now: Timestamp) async throws {
        for id in ids where rows[id]?.isFirstAttemptOpen == true {
            rows[id]?.claimedAt = now
            if rows[id]?.status == .accepted { rows[id]?.status = .queued }
        }
    }

    package func claim(
        _ ids: [NotificationID], first: Set<NotificationID>, now: Timestamp
    ) async throws -> DispatchClaims {
        var claims = DispatchClaims()
        for id in Set(ids) {
            guard var row = rows[id] else { continue }
            guard !damaged.contains(id) else {
                claims.unreadable[id] = Self.unreadable
                continue
            }
            if let time = row.notification.earlyTime(at: now) {
                claims.early[id] = time
                continue
            }
            if !(first.contains(id) && row.isFirstAttemptOpen) { row.attempt += 1 }
            row.claimedAt = now
            if row.status == .accepted { row.status = .queued }
            rows[id] = row
            claims.plans[id] = DispatchPlan(row)
        }
        return claims
    }

    package func abandon(_ ids: [NotificationID]) async throws {
        for id in ids { outbox[id] = nil }
    }

    @discardableResult
    package func record(_ outcomes: [DispatchOutcome]) async throws -> Set<NotificationID> {
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
            follow(outcome)
            if let due = outcome.republishAt, let row = rows[outcome.id] { enter(row.notification, until: due) }
            if let due = outcome.dueAgain { postpone(outcome.id, until: due) }
        }
        return fenced
    }
}

extension DispatchPlan {
    init(_ row: MemoryStore.Row) {
        let notification = row.notification
        self.init(
            id: notification.id, recipient: notification.recipient, presentation: notification.presentation,
            alert: notification.alert, platforms: notification.platforms, expiresAt: notification.expiresAt,
            expiryBoundsPush: notification.expiryBoundsPush, collapseKey: notification.collapseKey,
            priority: notification.priority,
            traceparent: notification.traceparent, isRevoked: row.revokedAt != nil, attempt: row.attempt,
            unrecordedClaims: row.attempt - 1 - row.recordedAttempt, deliveries: row.deliveries,
            remind: notification.remind)
    }
}

extension MemoryStore: Outbox {
    package func lease(limit: Int, now: Timestamp, until: Timestamp) async throws -> [OutboxEntry] {
        take(limit: limit, isPublished: false, due: now, now: now, until: until).entries
    }

    package func leasePublished(
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
            } else if row.isFirstAttemptOpen,
                isPublished || waiting.due == OutboxPolicy.due(of: row.notification)
            {
                outbox[id] = Waiting(entry: waiting.entry, due: now + OutboxPolicy.notice)
            } else {
                outbox[id]?.due = until
                outbox[id]?.isPostponed = false
                lease.entries.append(waiting.entry)
            }
        }
        return lease
    }

    package func confirm(_ ids: [NotificationID], until: Timestamp) async throws {
        for id in ids where outbox[id]?.isPublished == false && outbox[id]?.isPostponed == false {
            outbox[id]?.isPublished = true
            outbox[id]?.due = until
        }
    }

    package func backlog(now: Timestamp) async throws -> OutboxBacklog {
        let unpublished = outbox.values.filter { !$0.isPublished }
        let due = unpublished.filter { waiting in
            guard let notification = rows[waiting.entry.id]?.notification else { return false }
            // One that is leased is due again later, but was due once.
            return waiting.due <= now || !waiting.isPostponed && OutboxPolicy.due(of: notification) <= now
        }
        let notifications = due.compactMap { rows[$0.entry.id]?.notification }
        let oldest = notifications.map { max($0.createdAt, $0.notBefore ?? $0.createdAt) }.min()
        return OutboxBacklog(count: unpublished.count, oldest: oldest)
    }

    /// Adds a published entry that is due again at a time.
    func enter(_ notification: Notification, until: Timestamp) {
        let entry = OutboxEntry(id: notification.id, traceparent: notification.traceparent)
        outbox[notification.id] = Waiting(entry: entry, due: until, isPublished: true)
    }

    /// Lets the sweep publish a notification again at a time. Its claim has ended.
    private func postpone(_ id: NotificationID, until due: Timestamp) {
        guard let notification = rows[id]?.notification else { return }
        rows[id]?.claimedAt = nil
        let entry = OutboxEntry(id: id, traceparent: notification.traceparent)
        outbox[id] = Waiting(entry: entry, due: due, isPostponed: true)
    }
}

extension Notification {
    /// `NotBefore`, if it has not come.
    fileprivate func earlyTime(at now: Timestamp) -> Timestamp? { notBefore.flatMap { $0 > now ? $0 : nil } }
}

extension MemoryStore.Row {
    /// Whether it needs no more work.
    var isFinal: Bool { status != .accepted && status != .queued }

    /// See ``DispatchStore/begin(_:now:)``.
    fileprivate var isFirstAttemptOpen: Bool { attempt == 1 && recordedAttempt == 0 && claimedAt == nil }
}

extension MemoryStore: DeadLetterStore {
    package func records(_ ids: [NotificationID]) async throws -> [NotificationID: NotificationRecord] {
        var records: [NotificationID: NotificationRecord] = [:]
        for id in ids where !damaged.contains(id) { records[id] = rows[id].map(NotificationRecord.init) }
        return records
    }

    package func reopen(
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
        // This attempt is not a claim.
        row.recordedAttempt += 1
        rows[id] = row
        enter(row.notification, until: now + OutboxPolicy.redelivery)
        return result
    }
}

extension MemoryStore: PayloadKeyUse {
    package func payloads(sealedWith keyID: String, limit: Int, now: Timestamp) async throws -> Int {
        let sealed = rows.values.lazy.filter { $0.payload?.keyID == keyID && $0.notification.expiresAt > now }
        return sealed.prefix(max(limit, 0)).count
    }
}
