import GRDB
import SecurePushCore

extension SQLiteStore {
    func leaseOutcomes(holder: Int64, now: Timestamp, until: Timestamp) async throws -> [OutcomeCursor]? {
        let outputs = try await submit([.outcome(.lease(holder: holder, now: now, until: until))])
        guard case .outcomeCursors(let text?)? = outputs.first else { return nil }
        return StorageCoding.decodeCursors(text)
    }

    func saveOutcomes(holder: Int64, cursors: [OutcomeCursor], until: Timestamp) async throws -> Bool {
        let text = StorageCoding.encode(cursors: cursors)
        let outputs = try await submit([.outcome(.save(holder: holder, cursors: text, until: until))])
        guard case .outcomeCursors(.some)? = outputs.first else { return false }
        return true
    }

    func awaitingOutcome(_ query: OutcomeQuery) async throws -> OutcomePage {
        try checkRunning()
        return try await database.read { db in try OutcomePage.fetch(query, db) }
    }

    func recordOutcomes(_ outcomes: [DeliveryOutcomes]) async throws {
        if outcomes.isEmpty { return }
        _ = try await submit(outcomes.map { .outcome(.record($0)) })
    }
}

/// A change for the outcomes that the hub reports.
enum SQLiteOutcomeChange: Sendable {
    case lease(holder: Int64, now: Timestamp, until: Timestamp)
    case save(holder: Int64, cursors: String, until: Timestamp)
    case record(DeliveryOutcomes)

    /// - Returns: the stored cursors; `nil` if another process has the lease, and after storing outcomes.
    func execute(_ db: Database) throws -> String? {
        switch self {
        case .lease(let holder, let now, let until):
            return try String.fetchOne(
                db.cachedStatement(sql: Self.lease),
                arguments: [holder, until.milliseconds, holder, now.milliseconds])
        case .save(let holder, let cursors, let until):
            try db.cachedStatement(sql: Self.save).execute(arguments: [cursors, until.milliseconds, holder])
            return db.changesCount > 0 ? cursors : nil
        case .record(let outcome):
            try db.cachedStatement(sql: Self.record).execute(arguments: [
                StorageCoding.encode(outcome.deliveries), outcome.id.data, outcome.attempt,
            ])
            return nil
        }
    }

    static let lease = """
        UPDATE outcome_watch SET holder = ?, until = ? WHERE id = 1 AND (holder = ? OR until <= ?) RETURNING cursors
        """
    static let save = "UPDATE outcome_watch SET cursors = ?, until = ? WHERE id = 1 AND holder = ?"
    /// A claim after the reading fences the outcome off.
    static let record = "UPDATE notifications SET deliveries = ? WHERE id = ? AND attempt = ? AND status > 1"
    static let statements = [lease, save, record, OutcomePage.accepted, OutcomePage.scheduled]
}

extension OutcomePage {
    fileprivate static func fetch(_ query: OutcomeQuery, _ db: Database) throws -> OutcomePage {
        let limit = OutcomePolicy.maxScan
        let rows: RowCursor
        switch query.order {
        case .accepted:
            let after = max(query.after.id, .first(at: query.after.time)).data
            rows = try Row.fetchCursor(
                db.cachedStatement(sql: accepted),
                arguments: [after, NotificationID.first(at: query.before).data, limit])
        case .scheduled:
            let time = query.after.time.milliseconds
            rows = try Row.fetchCursor(
                db.cachedStatement(sql: scheduled),
                arguments: [time, query.after.id.data, query.before.milliseconds, limit])
        }
        var entries: [AwaitedOutcome] = []
        var examined = 0
        while let row = try rows.next() {
            examined += 1
            let id = try row.notificationID(0)
            let time =
                query.order == .accepted
                ? id.timestamp : try Timestamp(stored: try row.value(5, column: "not_before"), column: "not_before")
            let cursor = OutcomeCursor(time: time, id: id)
            if try row.value(4, column: "is_awaited") as Bool, let entry = try? AwaitedOutcome(cursor, row) {
                entries.append(entry)
            }
            if examined == limit || entries.count == query.limit {
                return OutcomePage(entries: entries, next: cursor, isEnd: false)
            }
        }
        return OutcomePage(entries: entries, next: OutcomeCursor(before: query.before), isEnd: true)
    }

    /// The newest rows are the end of the primary key, because IDs ascend with time.
    static let accepted = "SELECT \(columns) FROM notifications WHERE id > ? AND id < ? ORDER BY id LIMIT ?"

    /// `notifications_scheduled` holds only the notifications with a `NotBefore`.
    static let scheduled = """
        SELECT \(columns), not_before FROM notifications
        WHERE (not_before, id) > (?, ?) AND not_before < ? AND not_before IS NOT NULL ORDER BY not_before, id LIMIT ?
        """

    /// Both texts are searched for, because a hub without telemetry gives no message IDs.
    private static let columns = """
        id, recipient, attempt, deliveries, coalesce(status > 1
            AND instr(deliveries, '\(StorageCoding.sentWithoutOutcome)') > 0
            AND instr(deliveries, '\(StorageCoding.messageID)') > 0, 0)
        """
}

extension AwaitedOutcome {
    fileprivate init(_ cursor: OutcomeCursor, _ row: Row) throws {
        let text: String = try row.value(3, column: "deliveries")
        let deliveries = try StorageCoding.decodeDeliveries(text)
        guard deliveries.contains(where: \.awaitsOutcome) else { throw Row.unreadable("deliveries") }
        let attempt: Int32 = try row.value(2, column: "attempt")
        self.init(
            cursor: cursor, recipient: try row.userName(1, column: "recipient"), attempt: Int(attempt),
            deliveries: deliveries)
    }
}
