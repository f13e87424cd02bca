import Domain
import Foundations

extension SQLStore {
    /// The lease ends by itself, so another process can go on after a crash.
    func leaseOutcomes(holder: Int64, now: Timestamp, until: Timestamp) async throws -> [OutcomeCursor]? {
        try await change(
            """
            UPDATE outcome_watch SET holder = \(holder), until = \(until)
            WHERE id = 1 AND (holder = \(holder) OR until <= \(now)) RETURNING cursors
            """
        ) { row in try row.map(StorageCoding.decodeCursors) }.first
    }

    func saveOutcomes(holder: Int64, cursors: [OutcomeCursor], until: Timestamp) async throws -> Bool {
        let text = StorageCoding.encode(cursors: cursors)
        return try await run(
            "UPDATE outcome_watch SET cursors = \(text), until = \(until) WHERE id = 1 AND holder = \(holder)") > 0
    }

    func awaitingOutcome(_ query: OutcomeQuery) async throws -> OutcomePage {
        let rows = try await all(query.sql) { row in try ExaminedRow(&row, query.order) }
        // LIMIT counts the rows that cannot be read, too: behind the last of them there may be more.
        if let last = rows.last, last.isScanEnd || rows.count == query.limit {
            return OutcomePage(entries: rows.compactMap(\.entry), next: last.cursor, isEnd: false)
        }
        return OutcomePage(entries: rows.compactMap(\.entry), next: OutcomeCursor(before: query.before), isEnd: true)
    }

    /// After a claim that came later than the reading, the outcome is not stored. No index contains the column, so
    /// PostgreSQL's update is HOT.
    func recordOutcomes(_ outcomes: [DeliveryOutcomes]) async throws {
        if outcomes.isEmpty { return }
        let bytes = outcomes.reduce(0) { $0 + 256 + $1.deliveries.count * 256 }
        try await write(weight: outcomes.count, bytes: bytes) { db in
            // The order in which all transactions lock notifications.
            try db.run(
                each: outcomes.sorted { $0.id < $1.id }.map { outcome in
                    """
                    UPDATE notifications SET deliveries = \(StorageCoding.encode(outcome.deliveries))
                    WHERE id = \(outcome.id) AND attempt = \(outcome.attempt) AND status > 1
                    """
                })
        }
    }
}

extension OutcomeQuery {
    /// The newest rows are the end of the primary key, because IDs ascend with time. `notifications_scheduled` holds
    /// only the notifications with a `NotBefore`.
    var sql: SQL {
        switch order {
        case .accepted:
            page(
                due: "created_at",
                range: "id > \(max(after.id, .first(at: after.time))) AND id < \(NotificationID.first(at: before))",
                order: "id")
        case .scheduled:
            page(
                due: "not_before",
                range: """
                    (not_before, id) > (\(after.time), \(after.id)) AND not_before < \(before)
                    AND not_before IS NOT NULL
                    """, order: "not_before, id")
        }
    }

    /// The inner LIMIT bounds the scan; its last row is returned whether an outcome is awaited or not. Both texts are
    /// searched for, because a hub without telemetry gives no message IDs.
    private func page(due: String, range: SQL, order: String) -> SQL {
        let scan = OutcomePolicy.maxScan
        return """
            SELECT id, due, position = \(raw: "\(scan)"), is_awaited, recipient, attempt, deliveries
            FROM (
                SELECT id, recipient, attempt, deliveries, due, row_number() OVER () AS position,
                    coalesce(status > 1 AND \(StorageCoding.sentWithoutOutcome, isIn: "deliveries")
                        AND \(StorageCoding.messageID, isIn: "deliveries"), false) AS is_awaited
                FROM (
                    SELECT id, recipient, attempt, status, deliveries, \(raw: due) AS due FROM notifications
                    WHERE \(range) ORDER BY \(raw: order) LIMIT \(raw: "\(scan)")
                ) AS examined
            ) AS seen
            WHERE is_awaited OR position = \(raw: "\(scan)")
            LIMIT \(limit)
            """
    }
}

/// A row that may await an outcome, or the last one of a scan.
private struct ExaminedRow {
    let cursor: OutcomeCursor
    let isScanEnd: Bool
    /// `nil` for a row that cannot be read or awaits no outcome.
    let entry: AwaitedOutcome?

    init(_ row: inout SQLRow, _ order: OutcomePass.Order) throws {
        let (id, due): (NotificationID, Int64) = (try row(), try row())
        cursor = OutcomeCursor(
            time: order == .accepted ? id.timestamp : try Timestamp(stored: due, column: "not_before"), id: id)
        isScanEnd = try row()
        entry = try row() ? try? AwaitedOutcome(cursor, &row) : nil
    }
}

extension AwaitedOutcome {
    fileprivate init(_ cursor: OutcomeCursor, _ row: inout SQLRow) throws {
        self.init(
            cursor: cursor, recipient: try row(), attempt: try row(),
            deliveries: try row.map(StorageCoding.decodeDeliveries))
        guard deliveries.contains(where: \.awaitsOutcome) else { throw unreadable("deliveries") }
    }
}
