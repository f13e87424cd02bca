import GRDB
import SecurePushCore

extension SQLiteStore {
    func census(since: Timestamp, now: Timestamp) async throws -> NotificationCensus {
        try checkRunning()
        return try await database.read { db in
            var census = NotificationCensus()
            let counts = try db.cachedStatement(sql: Self.counts)
            if let row = try Row.fetchOne(counts, arguments: [NotificationID.first(at: since).data]) {
                let numbers: [Int] = try (0..<8).map { try row.valueIfPresent($0, column: "count") ?? 0 }
                (census.accepted, census.published, census.pushed, census.read) =
                    (numbers[0], numbers[1], numbers[2], numbers[3])
                (census.shown, census.partial, census.failed, census.revoked) =
                    (numbers[4], numbers[5], numbers[6], numbers[7])
                census.oldest = try row.storedTimeIfPresent(8, column: "created_at")
            }
            let unfinished = try db.cachedStatement(sql: Self.unfinished)
            census.oldestUnfinished = try Row.fetchOne(unfinished, arguments: [now.milliseconds]).map {
                try $0.notificationID(0).timestamp
            }
            return census
        }
    }

    func page(_ query: OperatorQuery) async throws -> OperatorPage {
        try checkRunning()
        return try await database.read { db in try Self.page(query, db) }
    }

    func life(of id: NotificationID) async throws -> NotificationLife? {
        try checkRunning()
        return try await database.read { db in
            let statement = try db.cachedStatement(sql: Self.life)
            guard let row = try Row.fetchOne(statement, arguments: [id.data]) else { return nil }
            let columns = NotificationRecord.columnCount
            let hasReminders: Bool = try row.value(columns, column: "remind")
            let record = try SQLiteFollowUpChange.adding(
                to: try NotificationRecord(row).withDeliveries(row), hasReminders: hasReminders, db)
            return NotificationLife(
                record: record, sender: try row.value(9, column: "sender"),
                attempt: try row.value(columns + 1, column: "attempt"),
                outbox: try .init(due: try row.valueIfPresent(columns + 2, column: "due_at")))
        }
    }

    private static func page(_ query: OperatorQuery, _ db: Database) throws -> OperatorPage {
        let before = (query.before ?? NotificationID(high: .max, low: .max)).data
        let since = NotificationID.first(at: query.since).data
        let limit = NotificationCensus.maxScan + 1
        let rows: RowCursor
        if let recipient = query.recipient {
            rows = try Row.fetchCursor(
                db.cachedStatement(sql: toRecipient), arguments: [recipient.text, before, since, limit])
        } else {
            rows = try Row.fetchCursor(db.cachedStatement(sql: ofAll), arguments: [before, since, limit])
        }
        var entries: [OperatorPage.Entry] = []
        var (seen, last) = (0, NotificationID?.none)
        while let row = try rows.next() {
            if seen == NotificationCensus.maxScan { return OperatorPage(entries: entries, next: last) }
            seen += 1
            let record = try NotificationRecord(row)
            last = record.id
            let isFailed = record.dispatchStatus == .partial || record.dispatchStatus == .failed
            if query.onlyFailed, !isFailed || record.revokedAt != nil { continue }
            if entries.count >= max(query.limit, 0) {
                return OperatorPage(entries: entries, next: entries.last?.record.id)
            }
            let sender: String = try row.value(9, column: "sender")
            entries.append(OperatorPage.Entry(record: try record.withDeliveries(row), sender: sender))
        }
        return OperatorPage(entries: entries, next: nil)
    }

    /// The newest rows are the end of the primary key, because IDs ascend with time.
    static let counts = """
        SELECT count(*),
            sum(CASE WHEN status > 0 THEN 1 ELSE NOT EXISTS (
                SELECT 1 FROM outbox WHERE notification_id = id AND due_at < \(SQLiteSchema.never)) END),
            sum(instr(deliveries, '\(StorageCoding.sent)') > 0), sum(read_at IS NOT NULL), sum(shown_at IS NOT NULL),
            sum(status = 3), sum(status = 4), sum(revoked_at IS NOT NULL), min(created_at)
        FROM (
            SELECT id, status, deliveries, read_at, shown_at, revoked_at, created_at FROM notifications
            WHERE id >= ? ORDER BY id DESC LIMIT \(NotificationCensus.maxScan)
        )
        """

    static let unfinished = """
        SELECT notification_id
        FROM (
            SELECT notification_id, due_at FROM outbox
            ORDER BY notification_id LIMIT \(NotificationCensus.maxOutboxScan)
        )
        WHERE due_at <= ? OR due_at = \(SQLiteSchema.never) ORDER BY notification_id LIMIT 1
        """

    static let ofAll = """
        SELECT \(NotificationRecord.columns) FROM notifications WHERE id < ? AND id >= ? ORDER BY id DESC LIMIT ?
        """

    static let toRecipient = """
        SELECT \(NotificationRecord.columns) FROM notifications WHERE recipient = ? AND id < ? AND id >= ?
        ORDER BY id DESC LIMIT ?
        """

    /// The columns of the record; whether it has reminders; the number of claims; the outbox entry.
    static let life = """
        SELECT \(NotificationRecord.columns), remind IS NOT NULL, attempt,
            (SELECT due_at FROM outbox WHERE notification_id = id)
        FROM notifications WHERE id = ?
        """
}

extension NotificationLife.OutboxState {
    /// The state of an entry with this `due_at`; `nil` for no entry.
    init(due: Int64?) throws {
        switch due {
        case nil: self = .none
        case SQLiteSchema.never: self = .published
        case let due?: self = .waiting(due: try Timestamp(stored: due, column: "due_at"))
        }
    }
}
