import SecurePushCore

extension SQLiteStore: Retention {
    /// A batch is cut into short transactions, between which this process's other work and other processes have their
    /// turn; see ``SQLitePurge``.
    func purge(limit: Int, now: Timestamp) async throws -> PurgeReport {
        try checkRunning()
        let limit = max(limit, 0)
        var report = PurgeReport()
        report.payloads = try await purge(.payloads, limit: limit, now: now)
        report.notifications = try await purge(.notifications, limit: limit, now: now)
        report.keys = try await purge(.keys, limit: limit, now: now)
        // The last batch of a round also clears the log, which holds what was destroyed, by revoking too, as it was.
        if report.largest < limit { await database.clearLog() }
        return report
    }

    /// The most rows of one transaction: some milliseconds.
    private static var step: Int { 100 }

    /// How long the writer's lock is left alone between two of them. Others look for it every millisecond, and this
    /// process would have it again within microseconds.
    private static var pause: Duration { .milliseconds(3) }

    private func purge(_ kind: SQLitePurge.Kind, limit: Int, now: Timestamp) async throws -> Int {
        var count = 0
        while count < limit {
            let step = SQLitePurge(kind: kind, limit: min(limit - count, SQLiteStore.step), now: now)
            guard case .purged(let outcome)? = try await submit([.purge(step)]).first else { break }
            count += outcome.count
            // Cancelled, it ends with what is done.
            guard outcome.isFull, (try? await Task.sleep(for: SQLiteStore.pause)) != nil else { break }
        }
        return count
    }
}
