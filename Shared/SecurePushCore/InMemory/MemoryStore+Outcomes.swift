extension MemoryStore: OutcomeStore {
    /// The lease for asking the hub, and the places that the passes have reached.
    struct OutcomeWatch {
        var holder: Int64 = 0
        var until = Timestamp(milliseconds: 0)
        var cursors: [OutcomeCursor] = []
    }

    package func leaseOutcomes(holder: Int64, now: Timestamp, until: Timestamp) async throws -> [OutcomeCursor]? {
        guard outcomeWatch.holder == holder || outcomeWatch.until <= now else { return nil }
        (outcomeWatch.holder, outcomeWatch.until) = (holder, until)
        return outcomeWatch.cursors
    }

    package func saveOutcomes(holder: Int64, cursors: [OutcomeCursor], until: Timestamp) async throws -> Bool {
        guard outcomeWatch.holder == holder else { return false }
        (outcomeWatch.cursors, outcomeWatch.until) = (cursors, until)
        return true
    }

    package func awaitingOutcome(_ query: OutcomeQuery) async throws -> OutcomePage {
        let range = rows.values.compactMap { row in row.cursor(in: query.order).map { ($0, row) } }
            .filter { $0.0 > query.after && $0.0.time < query.before }
            .sorted { $0.0 < $1.0 }
            .prefix(OutcomePolicy.maxScan)
        var entries: [AwaitedOutcome] = []
        for (cursor, row) in range where row.awaitsOutcome && !damaged.contains(cursor.id) {
            entries.append(
                AwaitedOutcome(
                    cursor: cursor, recipient: row.notification.recipient, attempt: row.attempt,
                    deliveries: row.deliveries))
            if entries.count == query.limit { return OutcomePage(entries: entries, next: cursor, isEnd: false) }
        }
        if range.count == OutcomePolicy.maxScan, let last = range.last?.0 {
            return OutcomePage(entries: entries, next: last, isEnd: false)
        }
        return OutcomePage(entries: entries, next: OutcomeCursor(before: query.before), isEnd: true)
    }

    package func recordOutcomes(_ outcomes: [DeliveryOutcomes]) async throws {
        for outcome in outcomes {
            guard let row = rows[outcome.id], row.attempt == outcome.attempt, row.isFinal else { continue }
            rows[outcome.id]?.deliveries = outcome.deliveries
        }
    }
}

extension MemoryStore.Row {
    /// Its place in an order; `nil` if it has none.
    fileprivate func cursor(in order: OutcomePass.Order) -> OutcomeCursor? {
        switch order {
        case .accepted: OutcomeCursor(time: notification.id.timestamp, id: notification.id)
        case .scheduled: notification.notBefore.map { OutcomeCursor(time: $0, id: notification.id) }
        }
    }

    fileprivate var awaitsOutcome: Bool { isFinal && deliveries.contains(where: \.awaitsOutcome) }
}
