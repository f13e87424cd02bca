import GRDB
import SecurePushCore

extension SQLiteStore: DeadLetterStore {
    func records(_ ids: [NotificationID]) async throws -> [NotificationID: NotificationRecord] {
        let records = try await dispatchRows(ids).compactMap { try? $0.value.get().record }
        return Dictionary(records.map { ($0.id, $0) }) { first, _ in first }
    }

    func reopen(
        _ letters: [NotificationID: [Platform]], now: Timestamp
    ) async throws -> [NotificationID: ReplayDecision] {
        try await reopen(Array(letters.keys), now: now) { $0.reopening(letters[$0.id] ?? [], now: now) }
    }

    func resend(_ id: NotificationID, sender: String, now: Timestamp) async throws -> ReplayDecision? {
        // Whose it is never changes.
        guard try await record(id, sender: sender) != nil else { return nil }
        return try await reopen([id], now: now) { $0.resending(now: now) }[id]
    }

    private func reopen(
        _ ids: [NotificationID], now: Timestamp,
        deciding decide: (NotificationRecord) -> (result: ReplayDecision, deliveries: [Delivery])
    ) async throws -> [NotificationID: ReplayDecision] {
        try await NotificationReplay.run(ids, decide: decide) { ids in
            try await dispatchRows(ids)
        } write: { changes in
            let outputs = try await submit(changes.map { .reopen($0, now: now) })
            return Set(outputs.compactMap { if case .reopened(let id?) = $0 { id } else { nil } })
        }
    }

    private func dispatchRows(_ ids: [NotificationID]) async throws -> NotificationReplay.Rows {
        try checkRunning()
        return try await database.read { db in
            let statement = try db.cachedStatement(sql: NotificationReplay.Row.select)
            var rows: NotificationReplay.Rows = [:]
            for id in Set(ids) {
                guard let row = try Row.fetchOne(statement, arguments: [id.data]) else { continue }
                rows[id] = Result {
                    NotificationReplay.Row(
                        record: try NotificationRecord(row).withDeliveries(row),
                        attempt: try row.value(11, column: "attempt"),
                        deliveries: try row.valueIfPresent(8, column: "deliveries"))
                }.mapError { StorageError($0) }
            }
            return rows
        }
    }
}

extension NotificationReplay.Row {
    static let select = "SELECT \(NotificationRecord.columns), attempt FROM notifications WHERE id = ?"
}

extension NotificationReplay.Change {
    /// - Returns: the ID, where the record was still the one that was read.
    func execute(now: Timestamp, _ db: Database) throws -> NotificationID? {
        let statement = try db.cachedStatement(
            sql: """
                UPDATE notifications SET deliveries = ?, status = \(DispatchStatus.queued.rawValue),
                    attempt = min(attempt, \(Int32.max - 1)) + 1,
                    recorded_attempt = \(SQLiteSchema.recordedAttempt("attempt")) + 1
                WHERE id = ? AND attempt = ? AND deliveries IS ?
                """)
        try statement.execute(arguments: [new, id.data, attempt, old])
        guard db.changesCount > 0 else { return nil }
        try SQLiteWrite.enter(id, due: now + OutboxPolicy.redelivery, db)
        return id
    }
}

extension SQLiteStore: PayloadKeyUse {
    func payloads(sealedWith keyID: String, limit: Int, now: Timestamp) async throws -> Int {
        try checkRunning()
        return try await database.read { db in
            let statement = try db.cachedStatement(
                sql: """
                    SELECT count(*) FROM (
                        SELECT 1 FROM payloads
                        WHERE key_id = ? AND key_id <> '' AND (purge_at IS NULL OR purge_at > ?) LIMIT ?
                    )
                    """)
            return try Int.fetchOne(statement, arguments: [keyID, now.milliseconds, max(limit, 0)]) ?? 0
        }
    }
}
