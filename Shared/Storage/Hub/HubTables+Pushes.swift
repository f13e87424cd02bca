import Domain
package import Foundations

/// The pushes that are tried again. Only the process with the claim pushes a row.
extension HubTables {
    /// The most pushes of a lane that are counted.
    package static let maxCounted = 100_000

    /// Stores pushes with the message that they belong to. After that they survive a crash.
    ///
    /// - Parameter message: if it is stored already, its outcomes are added to those that are stored.
    package func keep(_ pushes: [HubPush], of message: HubMessage) async throws {
        let bytes = pushes.reduce(message.heldBytes) { $0 + 512 + $1.request.count + $1.body.count }
        try await store.write(weight: pushes.count + 1, bytes: bytes) { db in
            let stored = try db.first(
                "SELECT \(.messageColumns) FROM hub_messages WHERE id = \(message.id) \(.forUpdate)"
            ) { row in try HubMessage(&row) }
            try db.run(each: SQL.save(message.adding(stored?.outcomes ?? [])) + pushes.map(SQL.insert))
        }
    }

    /// When the next push of each lane falls due. It reads two rows for each lane.
    package func nextPushes() async throws -> [HubLaneKey: Timestamp] {
        let rows = try await store.all(
            """
            WITH RECURSIVE lanes (lane) AS (
                SELECT min(lane) FROM hub_pushes
                UNION ALL
                SELECT (SELECT min(p.lane) FROM hub_pushes AS p WHERE p.lane > lanes.lane) FROM lanes
                WHERE lanes.lane IS NOT NULL
            )
            SELECT lane, (SELECT min(p.due_at) FROM hub_pushes AS p WHERE p.lane = lanes.lane) FROM lanes
            WHERE lane IS NOT NULL
            """
        ) { row in (lane: try row() as String, due: try row() as Timestamp?) }
        return rows.reduce(into: [:]) { lanes, row in
            if let key = HubLaneKey(row.lane), let due = row.due { lanes[key] = due }
        }
    }

    /// Claims pushes of a lane that have fallen due, the earliest first. Rows that another process claims are skipped.
    ///
    /// - Parameters:
    ///   - claim: identifies this process.
    ///   - until: when another process may push them, if this process has died.
    package func claimPushes(
        of lane: HubLaneKey, limit: Int, claim: Int64, now: Timestamp, until: Timestamp
    ) async throws -> [HubPush] {
        try await claimPushes("lane = \(lane.text) AND due_at <= \(now)", order: "due_at", limit, claim, until: until)
    }

    /// Claims pushes of all lanes that have expired, and that no process pushes at the moment.
    package func claimPushesToGiveUp(
        limit: Int, claim: Int64, now: Timestamp, until: Timestamp
    ) async throws -> [HubPush] {
        let isOver: SQL = "give_up_at <= \(now) AND (claim IS NULL OR due_at <= \(now))"
        return try await claimPushes(isOver, order: "give_up_at", limit, claim, until: until)
    }

    private func claimPushes(
        _ condition: SQL, order: String, _ limit: Int, _ claim: Int64, until: Timestamp
    ) async throws -> [HubPush] {
        let limit = max(limit, 0)
        return try await store.write(weight: limit) { db in
            let due = try db.all(
                """
                SELECT id, lane, message_id, attempt, give_up_at, request, body FROM hub_pushes
                WHERE \(condition) ORDER BY \(raw: order) LIMIT \(limit) \(.skipLocked)
                """
            ) { row in
                HubPush(
                    id: try row(), lane: try row.map(HubLaneKey.stored), messageID: try row(), dueAt: until,
                    claim: claim, attempt: try row(), giveUpAt: try row(), request: try row(), body: try row())
            }
            if due.isEmpty { return [] }
            try db.run("UPDATE hub_pushes SET due_at = \(until), claim = \(claim) WHERE id \(in: due.map(\.id))")
            return due
        }
    }

    /// Removes the pushes that have ended, counts their outcomes once, and schedules the next try of the others.
    package func end(_ ends: [HubPushEnd], now: Timestamp) async throws {
        if ends.isEmpty { return }
        try await store.write(weight: ends.count) { db in
            var over: [NotificationID: (end: HubPushEnd, outcome: String)] = [:]
            var retries: [SQL] = []
            for end in ends {
                switch end.next {
                case .outcome(let outcome): over[end.id] = (end, outcome)
                case .retry(let due, let attempt):
                    retries.append(
                        """
                        UPDATE hub_pushes SET due_at = \(due), attempt = \(attempt), claim = NULL
                        WHERE id = \(end.id) AND claim = \(end.claim)
                        """)
                }
            }
            if over.isEmpty { return try db.run(each: retries) }
            // Another process may end the same ones, because it has claimed them since.
            let ids = retries.isEmpty ? Array(over.keys) : ends.map(\.id)
            let found: [NotificationID] = try db.all(
                "SELECT p.id FROM hub_pushes AS p WHERE p.id \(in: ids) \(.lockPushes)")
            try db.run(each: retries + ["DELETE FROM hub_pushes WHERE id \(in: over.keys)"])
            try db.count(found.compactMap { over[$0] }, now: now)
        }
    }

    /// How many pushes of a lane wait, at most ``maxCounted``.
    package func waitingPushes(of lane: HubLaneKey) async throws -> Int {
        try await store.first(
            """
            SELECT count(*) FROM (
                SELECT 1 AS one FROM hub_pushes WHERE lane = \(lane.text) LIMIT \(Self.maxCounted)
            ) AS found
            """) ?? 0
    }
}

extension SQLTransaction {
    /// Changes the counts of messages, which are locked in the order of their IDs.
    fileprivate func count(_ ends: [(end: HubPushEnd, outcome: String)], now: Timestamp) throws {
        let byMessage = Dictionary(grouping: ends) { $0.end.messageID }
        let messages = try all(
            """
            SELECT \(.messageColumns) FROM hub_messages WHERE id \(in: byMessage.keys) ORDER BY id \(.forUpdate)
            """
        ) { row in try HubMessage(&row) }
        try run(
            each: messages.map { message in
                var message = message
                for (end, outcome) in byMessage[message.id] ?? [] { message.end(end.platform, outcome, at: now) }
                return """
                    UPDATE hub_messages SET state = \(message.state), completed_at = \(message.completedAt),
                        outcomes = \(HubMessage.encode(message.outcomes))
                    WHERE id = \(message.id)
                    """
            })
    }
}

extension SQL {
    fileprivate static func insert(_ push: HubPush) -> SQL {
        """
        INSERT INTO hub_pushes (id, lane, message_id, due_at, claim, attempt, give_up_at, request, body) VALUES (
            \(push.id), \(push.lane.text), \(push.messageID), \(push.dueAt), \(push.claim), \(push.attempt),
            \(push.giveUpAt), \(push.request), \(push.body))
        """
    }
}

extension HubLaneKey {
    fileprivate static func stored(_ text: String) throws -> HubLaneKey {
        guard let key = HubLaneKey(text) else { throw StorageError(.failed, "A lane's name cannot be read.") }
        return key
    }
}

extension SQLWord {
    /// Locks the pushes that a SELECT finds, in the order of their IDs. SQLite has one writer.
    static let lockPushes = SQLWord(postgres: "ORDER BY p.id FOR UPDATE OF p", sqlite: "")
}
