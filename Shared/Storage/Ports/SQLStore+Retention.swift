import Domain
import Foundations

extension PostgresStore {
    /// Each kind is one transaction, unless payloads are large or rows are refused.
    func purge(limit: Int, now: Timestamp) async throws -> PurgeReport {
        try await purge(limit: limit, now: now, maxStep: limit, pause: .zero)
    }
}

extension SQLiteStore {
    /// Short transactions of a few milliseconds, so that this process's other work and other processes can run between
    /// them. Other processes try to get the writer's lock every millisecond; without a pause this process would take it
    /// again within microseconds.
    func purge(limit: Int, now: Timestamp) async throws -> PurgeReport {
        let report = try await purge(limit: limit, now: now, maxStep: 100, pause: .milliseconds(3))
        // The last batch of a round also clears the log, which still holds payloads that were destroyed or revoked.
        if report.largest < max(limit, 0) { await database.clearLog() }
        return report
    }
}

extension SQLStore {
    /// - Parameters:
    ///   - maxStep: the maximum number of rows in one transaction.
    ///   - pause: the time between two of them.
    func purge(limit: Int, now: Timestamp, maxStep: Int, pause: Duration) async throws -> PurgeReport {
        var report = PurgeReport()
        func purge(_ step: @escaping PurgeSteps.Step) async throws -> Int {
            let result = try await PurgeSteps(maxStep: maxStep, pause: pause, step: step)(limit: limit)
            report.refusal = result.refusal ?? report.refusal
            return result.count
        }
        report.payloads = try await purge { try await destroyPayloads(limit: $0, skip: $1, now: now) }
        report.answers = try await purge { try await destroyAnswers(limit: $0, skip: $1, now: now) }
        report.notifications = try await purge { try await forgetNotifications(limit: $0, skip: $1, now: now) }
        report.keys = try await purge { try await forgetKeys(limit: $0, skip: $1, now: now) }
        return report
    }

    /// Destroys the ciphertext of expired notifications, and sets the time at which their rows are removed. Rows that
    /// another process has locked are skipped here and below.
    private func destroyPayloads(limit: Int, skip: Int, now: Timestamp) async throws -> PurgeSteps.Done {
        try await write(weight: limit) { db in
            // Both databases know the length of a value without reading it.
            let due = try db.all(
                """
                SELECT notification_id, length(sealed) FROM payloads WHERE purge_at <= \(now) AND sealed IS NOT NULL
                ORDER BY purge_at LIMIT \(limit) OFFSET \(skip) \(.skipLocked)
                """
            ) { row in (id: try row() as NotificationID, size: try row() as Int) }
            // SQLite overwrites destroyed ciphertext page by page (`secure_delete`), so the bytes are bounded too.
            var bytes = 0
            let taken = due.prefix { payload in
                defer { bytes += payload.size }
                return bytes == 0 || bytes + payload.size <= 4 * 1024 * 1024
            }
            try db.run(
                """
                UPDATE payloads SET sealed = NULL, purge_at = purge_at + \(RetentionPolicy.tombstone.milliseconds)
                WHERE notification_id \(in: taken.map(\.id))
                """)
            return (taken.count, taken.count == limit || taken.count < due.count)
        }
    }

    /// Destroys the texts of answers whose senders had time to read them.
    private func destroyAnswers(limit: Int, skip: Int, now: Timestamp) async throws -> PurgeSteps.Done {
        let count = try await run(
            weight: limit,
            """
            WITH due AS MATERIALIZED (
                SELECT notification_id FROM answers WHERE text_until <= \(now)
                ORDER BY text_until LIMIT \(limit) OFFSET \(skip) \(.skipLocked)
            )
            UPDATE answers SET text_key = NULL, text_sealed = NULL, text_until = NULL
            WHERE notification_id IN (SELECT notification_id FROM due)
            """)
        return (count, count == limit)
    }

    /// Removes all rows of notifications whose tombstone time has passed. With the last notification of a recipient it
    /// removes the state of the recipient's silent pushes, which is as old.
    private func forgetNotifications(limit: Int, skip: Int, now: Timestamp) async throws -> PurgeSteps.Done {
        try await write(weight: limit) { db in
            let ids: [NotificationID] = try db.all(
                """
                SELECT notification_id FROM payloads WHERE purge_at <= \(now) AND sealed IS NULL
                ORDER BY purge_at LIMIT \(limit) OFFSET \(skip) \(.skipLocked)
                """)
            // Lock order as in all transactions: the notification, and then what hangs on it.
            let recipients: [String] = try db.all("DELETE FROM notifications WHERE id \(in: ids) RETURNING recipient")
            try db.run(each: [
                "DELETE FROM payloads WHERE notification_id \(in: ids)",
                "DELETE FROM outbox WHERE notification_id \(in: ids)",
                "DELETE FROM follow_ups WHERE notification_id \(in: ids)",
                "DELETE FROM answers WHERE notification_id \(in: ids)",
                "DELETE FROM device_reports WHERE notification_id \(in: ids)",
                """
                DELETE FROM silent_pushes
                WHERE recipient \(in: Set(recipients)) AND pushed_at <= \(now - RetentionPolicy.tombstone)
                """,
            ])
            return (ids.count, ids.count == limit)
        }
    }

    private func forgetKeys(limit: Int, skip: Int, now: Timestamp) async throws -> PurgeSteps.Done {
        let count = try await run(
            weight: limit,
            """
            WITH due AS MATERIALIZED (
                SELECT sender, value, line FROM idempotency_keys WHERE expires_at <= \(now)
                ORDER BY expires_at LIMIT \(limit) OFFSET \(skip) \(.skipLocked)
            )
            DELETE FROM idempotency_keys WHERE (sender, value, line) IN (SELECT sender, value, line FROM due)
            """)
        return (count, count == limit)
    }
}

extension SQLStore {
    /// One statement for the figures and the place where the next page begins, which a page that is not full has not.
    /// It reads the key of a payload, and not the ciphertext.
    func payloadKeys(after: NotificationID?, limit: Int, now: Timestamp) async throws -> PayloadKeyPage {
        let rows = try await all(
            """
            WITH page AS (
                SELECT notification_id, key_id, sealed IS NOT NULL AND purge_at > \(now) AS is_live FROM payloads
                WHERE notification_id > \(after ?? NotificationID(high: 0, low: 0))
                ORDER BY notification_id LIMIT \(max(limit, 1))
            )
            SELECT key_id, count(*), NULL FROM (
                SELECT key_id FROM page WHERE is_live
                UNION ALL
                SELECT text_key FROM answers JOIN page ON page.notification_id = answers.notification_id
                WHERE text_key IS NOT NULL AND text_until > \(now)
            ) AS sealed GROUP BY key_id
            UNION ALL
            SELECT NULL, 0, (
                SELECT notification_id FROM page ORDER BY notification_id LIMIT 1 OFFSET \(max(limit, 1) - 1))
            """
        ) { row in (key: try row() as String?, count: try row() as Int, next: try row() as NotificationID?) }
        var page = PayloadKeyPage()
        for row in rows {
            if let key = row.key { page.counts[key] = row.count } else { page.next = row.next }
        }
        return page
    }
}
