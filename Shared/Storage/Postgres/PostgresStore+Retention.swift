import Postgres
import SecurePushCore

extension PostgresStore {
    /// Each kind is one statement and one transaction, unless rows are refused. Rows locked by another process are
    /// skipped.
    func purge(limit: Int, now: Timestamp) async throws -> PurgeReport {
        guard limit > 0 else { return PurgeReport() }
        var report = PurgeReport()
        var parameters = PostgresParameters()
        parameters.append(Int64(limit))
        do {
            _ = try await query(.dateUndated, parameters)
        } catch let error as StorageError where StorageError.isRefusal(error) {
            report.refusal = error
        }
        report.payloads = try await purge(.destroyPayloads, limit: limit, now: now, &report.refusal)
        report.notifications = try await purge(.forgetNotifications, limit: limit, now: now, &report.refusal)
        report.keys = try await purge(.forgetKeys, limit: limit, now: now, &report.refusal)
        return report
    }

    private func purge(
        _ statement: PostgresStatement, limit: Int, now: Timestamp, _ refusal: inout StorageError?
    ) async throws -> Int {
        let steps = PurgeSteps(maxStep: limit) { limit, skip in
            var parameters = PostgresParameters()
            parameters.append(Int64(limit))
            parameters.append(now.milliseconds)
            parameters.append(Int64(skip))
            let count = try await self.query(statement, parameters).affectedRows
            return (count, count == limit)
        }
        let result = try await steps(limit: limit)
        refusal = result.refusal ?? refusal
        return result.count
    }
}

extension PostgresStatement {
    /// ``RetentionPolicy/tombstone`` in milliseconds.
    static let tombstone = RetentionPolicy.tombstone.milliseconds

    /// Sets the time in rows that a process of the previous version has written since the migration.
    fileprivate static let dateUndated = PostgresStatement(
        """
        WITH undated AS (
            SELECT notification_id FROM payloads WHERE purge_at IS NULL AND sealed IS NOT NULL
            LIMIT $1 FOR UPDATE SKIP LOCKED
        )
        UPDATE payloads SET purge_at = notifications.expires_at
        FROM undated JOIN notifications ON notifications.id = undated.notification_id
        WHERE payloads.notification_id = undated.notification_id
        """)

    /// Destroys the ciphertext of expired notifications, and sets the time at which their rows are removed.
    fileprivate static let destroyPayloads = PostgresStatement(
        """
        WITH due AS (
            SELECT notification_id FROM payloads WHERE purge_at <= $2 AND sealed IS NOT NULL
            ORDER BY purge_at LIMIT $1 OFFSET $3 FOR UPDATE SKIP LOCKED
        )
        UPDATE payloads SET sealed = NULL, purge_at = purge_at + \(tombstone)
        FROM due WHERE payloads.notification_id = due.notification_id
        """)

    /// Removes all rows of notifications whose tombstone time has passed. With the last notification of a recipient it
    /// removes the state of the recipient's silent pushes, which is as old.
    fileprivate static let forgetNotifications = PostgresStatement(
        """
        WITH due AS (
            SELECT notification_id FROM payloads WHERE purge_at <= $2 AND sealed IS NULL
            ORDER BY purge_at LIMIT $1 OFFSET $3 FOR UPDATE SKIP LOCKED
        ), payload AS (
            DELETE FROM payloads USING due WHERE payloads.notification_id = due.notification_id
        ), entry AS (
            DELETE FROM outbox USING due WHERE outbox.notification_id = due.notification_id
        ), follow_up AS (
            DELETE FROM follow_ups USING due WHERE follow_ups.notification_id = due.notification_id
        ), pushes AS (
            DELETE FROM silent_pushes USING due JOIN notifications AS n ON n.id = due.notification_id
            WHERE silent_pushes.recipient = n.recipient AND silent_pushes.pushed_at <= $2 - \(tombstone)
        )
        DELETE FROM notifications USING due WHERE notifications.id = due.notification_id
        """)

    fileprivate static let forgetKeys = PostgresStatement(
        """
        WITH due AS (
            SELECT sender, value, line FROM idempotency_keys WHERE expires_at <= $2
            ORDER BY expires_at LIMIT $1 OFFSET $3 FOR UPDATE SKIP LOCKED
        )
        DELETE FROM idempotency_keys AS present USING due
        WHERE present.sender = due.sender AND present.value = due.value AND present.line = due.line
        """)
}

extension PostgresStore {
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
    fileprivate static let payloadsOfKey = PostgresStatement(
        """
        SELECT count(*) FROM (
            SELECT FROM payloads
            WHERE key_id = $1 AND sealed IS NOT NULL AND (purge_at IS NULL OR purge_at > $2) LIMIT $3
        ) AS sealed
        """)
}
