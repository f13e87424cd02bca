extension MemoryStore {
    /// A follow-up as it is stored.
    struct WaitingFollowUp {
        /// When it is published; `nil` if nothing is to be done.
        var due: Timestamp?
        var state = FollowUpState.scheduled
        var attempt = 0
        /// How often it was published since it was claimed last.
        var published = 0
        /// The number of reminders that were claimed.
        var step = 0
        /// The number of those that a platform has accepted.
        var sent = 0
        var deliveries: [Delivery] = []
    }

    /// Makes a withdrawal if a platform has accepted the push. If there is one already, it is due again, and a claim
    /// that does not know of this push yet does not end it. It goes only to platforms that have not had it.
    ///
    /// - Parameter condition: which of the platforms that accepted the push count.
    func withdraw(_ id: NotificationID, now: Timestamp, if condition: (Delivery) -> Bool = { _ in true }) {
        guard rows[id]?.deliveries.contains(where: { $0.state == .sent && condition($0) }) ?? false else { return }
        var withdrawal = followUps[FollowUp(id: id, kind: .withdrawal)] ?? WaitingFollowUp(attempt: 1)
        withdrawal.due = now
        withdrawal.state = .repeated
        withdrawal.published = 0
        followUps[FollowUp(id: id, kind: .withdrawal)] = withdrawal
    }

    /// Makes the follow-ups of a recorded outcome.
    func follow(_ outcome: DispatchOutcome) {
        guard let row = rows[outcome.id] else { return }
        if let time = outcome.acceptedAt,
            withdrawals.applies(isRevoked: row.revokedAt != nil, isRead: row.readAt != nil)
        {
            withdraw(outcome.id, now: time)
        }
        guard let pushedAt = outcome.pushedAt, row.isOpen else { return }
        let followUp = FollowUp(id: outcome.id, kind: .reminder)
        var reminder = followUps[followUp] ?? WaitingFollowUp(due: pushedAt)
        guard reminder.state == .scheduled, reminder.due != nil else { return }
        reminder.due = FollowUpPolicy.due(step: reminder.step + 1, of: row.notification.remind, push: pushedAt)
        followUps[followUp] = reminder
    }

    /// The record with the results of its follow-ups.
    func recordWithFollowUps(_ row: Row) -> NotificationRecord {
        let id = row.notification.id
        let reminder = followUps[FollowUp(id: id, kind: .reminder)]
        return NotificationRecord(row).adding(
            withdrawals: followUps[FollowUp(id: id, kind: .withdrawal)]?.deliveries ?? [],
            reminders: row.notification.remind.isEmpty ? nil : (reminder?.sent ?? 0, reminder?.due))
    }
}

extension MemoryStore.Row {
    /// Whether it is neither revoked nor read.
    fileprivate var isOpen: Bool { revokedAt == nil && readAt == nil }
}

extension MemoryStore: FollowUpOutbox {
    package func leaseFollowUps(limit: Int, now: Timestamp) async throws -> [OutboxEntry] {
        let found = followUps.filter { $0.value.due.map { $0 <= now } ?? false }
            .sorted { ($0.value.due ?? now, $0.key.id) < ($1.value.due ?? now, $1.key.id) }
            .prefix(max(limit, 0))
        var entries: [OutboxEntry] = []
        for (followUp, waiting) in found {
            guard let row = rows[followUp.id] else {
                followUps[followUp] = nil
                continue
            }
            guard followUp.kind == .withdrawal || row.mayRemind(at: now) else {
                followUps[followUp]?.due = nil
                continue
            }
            followUps[followUp]?.due = FollowUpPolicy.publishAgain(now: now, published: waiting.published)
            followUps[followUp]?.published += 1
            if waiting.state == .scheduled { followUps[followUp]?.state = .published }
            entries.append(
                OutboxEntry(id: followUp.id, traceparent: row.notification.traceparent, kind: followUp.kind))
        }
        return entries
    }
}

extension MemoryStore.Row {
    fileprivate func mayRemind(at now: Timestamp) -> Bool { isOpen && notification.expiresAt > now }
}

extension MemoryStore: FollowUpStore {
    package func claimFollowUps(_ asked: [FollowUp], now: Timestamp) async throws -> FollowUpClaims {
        var claims = FollowUpClaims()
        for followUp in Set(asked) {
            guard let row = rows[followUp.id], var waiting = followUps[followUp], let due = waiting.due else {
                continue
            }
            if followUp.kind == .reminder {
                guard waiting.state != .scheduled, row.mayRemind(at: now) else { continue }
                if waiting.state == .published {
                    waiting.step += 1
                    waiting.deliveries = []
                }
                waiting.due = FollowUpPolicy.due(
                    step: waiting.step + 1, of: row.notification.remind, push: now)
            } else {
                waiting.due = FollowUpPolicy.claimEnd(now: now, due: due)
            }
            waiting.state = .scheduled
            waiting.attempt += 1
            waiting.published = 0
            followUps[followUp] = waiting
            if damaged.contains(followUp.id) {
                claims.unreadable[followUp] = Self.unreadable
            } else {
                claims.plans[followUp] = DispatchPlan(row).following(
                    followUp, attempt: waiting.attempt, step: waiting.step, deliveries: waiting.deliveries,
                    isRead: row.readAt != nil, revokedAt: row.revokedAt)
            }
        }
        return claims
    }

    package func recordFollowUps(_ outcomes: [FollowUpOutcome]) async throws {
        for outcome in outcomes {
            guard var waiting = followUps[outcome.followUp], waiting.attempt == outcome.attempt else { continue }
            if outcome.followUp.kind == .reminder, outcome.isSent,
                !waiting.deliveries.contains(where: { $0.state == .sent })
            {
                waiting.sent += 1
            }
            waiting.deliveries = outcome.deliveries
            if outcome.followUp.kind == .withdrawal {
                if waiting.state != .repeated { waiting.due = outcome.nextTry }
            } else if let nextTry = outcome.nextTry, waiting.state == .scheduled,
                waiting.due.map({ nextTry < $0 }) ?? true
            {
                waiting.due = nextTry
                waiting.state = .repeated
            }
            followUps[outcome.followUp] = waiting
        }
    }

    package func abandonFollowUps(_ abandoned: [FollowUp]) async throws {
        for followUp in abandoned { followUps[followUp]?.due = nil }
    }
}
