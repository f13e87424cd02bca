import Postgres
import SecurePushCore

extension PostgresStore: DeadLetterStore {
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
            let changes = changes.sorted { $0.id < $1.id }
            var parameters = PostgresParameters(capacity: changes.count * 512 + 128)
            parameters.append(changes) { PostgresUUID($0.id) }
            parameters.append(changes) { Int32(clamping: $0.attempt) }
            parameters.append(changes) { $0.old }
            parameters.append(changes) { $0.new }
            parameters.append((now + OutboxPolicy.redelivery).milliseconds)
            let result = try await query(.reopen, parameters)
            return try decoding {
                Set(try result.map { NotificationID(try $0.decode(0, as: PostgresUUID.self)) })
            }
        }
    }

    private func dispatchRows(_ ids: [NotificationID]) async throws -> NotificationReplay.Rows {
        if ids.isEmpty { return [:] }
        var parameters = PostgresParameters(capacity: ids.count * 20 + 32)
        parameters.append(ids) { PostgresUUID($0) }
        let result = try await query(.dispatchRows, parameters)
        return try decoding {
            var rows: NotificationReplay.Rows = [:]
            for row in result {
                let id = NotificationID(try row.decode(0, as: PostgresUUID.self))
                do {
                    rows[id] = .success(
                        NotificationReplay.Row(
                            record: try NotificationRecord(row), attempt: Int(try row.decode(10, as: Int32.self)),
                            deliveries: try row.decodeIfPresent(6, as: String.self)))
                } catch {
                    rows[id] = .failure(StorageError.unreadableRow(error))
                }
            }
            return rows
        }
    }
}

extension PostgresStore: PayloadKeyUse {
    func payloads(sealedWith keyID: String, limit: Int, now: Timestamp) async throws -> Int {
        var parameters = PostgresParameters()
        parameters.append(keyID)
        parameters.append(now.milliseconds)
        parameters.append(Int64(max(limit, 0)))
        let result = try await query(.payloadsOfKey, parameters)
        return try decoding { Int(try result.first?.decode(0, as: Int64.self) ?? 0) }
    }
}

extension PostgresStatement {
    fileprivate static let dispatchRows = PostgresStatement(
        "SELECT \(recordColumns), attempt FROM notifications WHERE id = ANY ($1::uuid[])")

    /// Only where nobody has claimed the notification or stored an outcome since it was read. The attempt is no claim,
    /// so it counts as recorded.
    fileprivate static let reopen = PostgresStatement(
        """
        WITH reopened AS (
            UPDATE notifications AS n SET deliveries = change.new, status = 1,
                attempt = least(n.attempt, 2147483646) + 1,
                recorded_attempt = \(recordedAttempt("n.attempt")) + 1
            FROM unnest($1::uuid[], $2::integer[], $3::text[], $4::text[]) AS change (id, attempt, old, new)
            WHERE n.id = change.id AND n.attempt = change.attempt AND n.deliveries IS NOT DISTINCT FROM change.old
            RETURNING n.id, n.traceparent
        ), open AS (
            SELECT id, $5::bigint AS republish_at, traceparent FROM reopened
        ), entry AS (
            \(publishedOfOpen)
        )
        SELECT id FROM reopened
        """)

    fileprivate static let payloadsOfKey = PostgresStatement(
        """
        SELECT count(*) FROM (
            SELECT FROM payloads
            WHERE key_id = $1 AND sealed IS NOT NULL AND (purge_at IS NULL OR purge_at > $2) LIMIT $3
        ) AS sealed
        """)
}
