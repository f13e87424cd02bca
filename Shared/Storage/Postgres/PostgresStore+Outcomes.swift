import Postgres
import SecurePushCore

extension PostgresStore {
    func leaseOutcomes(holder: Int64, now: Timestamp, until: Timestamp) async throws -> [OutcomeCursor]? {
        var parameters = PostgresParameters()
        parameters.append(holder)
        parameters.append(until.milliseconds)
        parameters.append(now.milliseconds)
        let result = try await query(.leaseOutcomes, parameters)
        return try decoding { try result.first.map { StorageCoding.decodeCursors(try $0.decode(0)) } }
    }

    func saveOutcomes(holder: Int64, cursors: [OutcomeCursor], until: Timestamp) async throws -> Bool {
        var parameters = PostgresParameters()
        parameters.append(holder)
        parameters.append(StorageCoding.encode(cursors: cursors))
        parameters.append(until.milliseconds)
        return try await query(.saveOutcomes, parameters).affectedRows > 0
    }

    func awaitingOutcome(_ query: OutcomeQuery) async throws -> OutcomePage {
        var parameters = PostgresParameters()
        parameters.append(Int64(query.limit))
        let statement: PostgresStatement
        switch query.order {
        case .accepted:
            statement = .awaitingOutcome
            parameters.append(PostgresUUID(max(query.after.id, .first(at: query.after.time))))
            parameters.append(PostgresUUID(.first(at: query.before)))
        case .scheduled:
            statement = .scheduledAwaitingOutcome
            parameters.append(query.after.time.milliseconds)
            parameters.append(PostgresUUID(query.after.id))
            parameters.append(query.before.milliseconds)
        }
        let result = try await self.query(statement, parameters)
        return try decoding { try OutcomePage(result, query) }
    }

    func recordOutcomes(_ outcomes: [DeliveryOutcomes]) async throws {
        if outcomes.isEmpty { return }
        // Lock order as in all statements.
        let outcomes = outcomes.sorted { $0.id < $1.id }
        var parameters = PostgresParameters(capacity: outcomes.count * 256 + 128)
        parameters.append(outcomes) { PostgresUUID($0.id) }
        parameters.append(outcomes) { Int32(clamping: $0.attempt) }
        parameters.append(outcomes) { StorageCoding.encode($0.deliveries) }
        _ = try await query(.recordOutcomes, parameters)
    }
}

extension PostgresStore {
    /// The newest rows are the end of the primary key, because IDs ascend with time.
    static let awaitingOutcomeSQL = awaitingOutcome(
        due: "created_at", range: "id > $2 AND id < $3", order: "id")

    /// `notifications_scheduled` holds only the notifications with a `NotBefore`.
    static let scheduledAwaitingOutcomeSQL = awaitingOutcome(
        due: "not_before", range: "(not_before, id) > ($2, $3) AND not_before < $4 AND not_before IS NOT NULL",
        order: "not_before, id")

    /// The inner LIMIT bounds the scan; its last row is returned whether an outcome is awaited or not. Both texts are
    /// searched for, because a hub without telemetry gives no message IDs.
    private static func awaitingOutcome(due: String, range: String, order: String) -> String {
        """
        SELECT id, recipient, attempt, deliveries, due, position, is_awaited
        FROM (
            SELECT id, recipient, attempt, deliveries, due, row_number() OVER () AS position,
                coalesce(status > 1 AND strpos(deliveries, '\(StorageCoding.sentWithoutOutcome)') > 0
                    AND strpos(deliveries, '\(StorageCoding.messageID)') > 0, false) AS is_awaited
            FROM (
                SELECT id, recipient, attempt, status, deliveries, \(due) AS due FROM notifications
                WHERE \(range) ORDER BY \(order) LIMIT \(OutcomePolicy.maxScan)
            ) AS examined
        ) AS seen
        WHERE is_awaited OR position = \(OutcomePolicy.maxScan)
        LIMIT $1
        """
    }
}

extension OutcomePage {
    /// Reads the rows of a page: those that may await an outcome, and the last one that was examined.
    fileprivate init(_ result: PostgresResult, _ query: OutcomeQuery) throws {
        var entries: [AwaitedOutcome] = []
        var last: OutcomeCursor?
        var isScanEnd = false
        for row in result {
            let id = NotificationID(try row.decode(0, as: PostgresUUID.self))
            let time =
                query.order == .accepted ? id.timestamp : try Timestamp(stored: row.decode(4), column: "not_before")
            let cursor = OutcomeCursor(time: time, id: id)
            if try row.decode(6, as: Bool.self), let entry = try? AwaitedOutcome(cursor, row) { entries.append(entry) }
            isScanEnd = try row.decode(5, as: Int64.self) >= Int64(OutcomePolicy.maxScan)
            last = cursor
        }
        // LIMIT counts the rows that were left out here, too: behind the last of them there may be more.
        if let last, isScanEnd || result.count == query.limit {
            self.init(entries: entries, next: last, isEnd: false)
        } else {
            self.init(entries: entries, next: OutcomeCursor(before: query.before), isEnd: true)
        }
    }
}

extension AwaitedOutcome {
    fileprivate init(_ cursor: OutcomeCursor, _ row: PostgresRow) throws {
        let deliveries = try row.decodeIfPresent(3, as: String.self).map(StorageCoding.decodeDeliveries) ?? []
        guard deliveries.contains(where: \.awaitsOutcome) else { throw unreadable("deliveries") }
        self.init(
            cursor: cursor, recipient: try row.userName(1), attempt: Int(try row.decode(2, as: Int32.self)),
            deliveries: deliveries)
    }
}

extension PostgresStatement {
    /// The lease ends by itself, so another process can go on after a crash.
    fileprivate static let leaseOutcomes = PostgresStatement(
        """
        UPDATE outcome_watch SET holder = $1, until = $2 WHERE id = 1 AND (holder = $1 OR until <= $3)
        RETURNING cursors
        """)

    fileprivate static let saveOutcomes = PostgresStatement(
        "UPDATE outcome_watch SET cursors = $2, until = $3 WHERE id = 1 AND holder = $1")

    fileprivate static let awaitingOutcome = PostgresStatement(PostgresStore.awaitingOutcomeSQL)
    fileprivate static let scheduledAwaitingOutcome = PostgresStatement(PostgresStore.scheduledAwaitingOutcomeSQL)

    /// A claim after the reading fences the outcome off. No index contains the column, so the update is HOT.
    fileprivate static let recordOutcomes = PostgresStatement(
        """
        UPDATE notifications AS n SET deliveries = outcome.deliveries
        FROM (
            SELECT unnest($1::uuid[]) AS id, unnest($2::integer[]) AS attempt, unnest($3::text[]) AS deliveries
        ) AS outcome
        WHERE n.id = outcome.id AND n.attempt = outcome.attempt AND n.status > 1
        """)
}
