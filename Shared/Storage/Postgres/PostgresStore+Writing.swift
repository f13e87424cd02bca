import Domain
import Foundations
import Postgres

/// Decision: docs/decisions/0014-one-postgresql-statement-per-frequent-operation.md
extension PostgresStore {
    func append(
        _ notifications: [SealedNotification], then completion: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        if notifications.isEmpty { return completion(.success(())) }
        if let missingConnection { return completion(.failure(missingConnection)) }
        if notifications.count == 1 { return appends.submit(notifications[0], then: completion) }
        appends.submit(notifications) { completion($0.map { _ in }) }
    }
}

extension PostgresStatement {
    /// One statement, so one round trip and one transaction. All IDs are new, as those of ingest are: if one is stored
    /// already, the statement fails and changes nothing.
    fileprivate static let append = append(extras: nil)

    /// ``append`` for groups with extras (``SealedNotification/hasExtras``). The others need no arrays for them.
    fileprivate static let appendWithExtras = append(extras: extras)

    /// The number of the first parameter with extras.
    private static let extras = 19

    /// Without ON CONFLICT: that costs a third more, because PostgreSQL then looks for each row in the index first,
    /// writes it as a speculative one, and confirms it in the WAL.
    private static func append(extras: Int?) -> PostgresStatement {
        PostgresStatement(
            """
            WITH stored AS (
                INSERT INTO notifications (\(notificationColumns(extras))) SELECT \(notificationInput(extras))
            ), payload AS (
                INSERT INTO payloads (notification_id, key_id, sealed, purge_at) SELECT \(payloadInput)
            ), entry AS (
                INSERT INTO outbox (notification_id, due_at, traceparent) SELECT \(entryInput)
            )\(questions(extras))
            SELECT
            """)
    }

    /// An existing notification is not changed and gets no second outbox row, so repeating this after a lost connection
    /// changes nothing.
    fileprivate static let appendAbsent = appendAbsent(extras: nil)

    /// ``appendAbsent`` for groups with extras.
    fileprivate static let appendAbsentWithExtras = appendAbsent(extras: extras)

    private static func appendAbsent(extras: Int?) -> PostgresStatement {
        PostgresStatement(
            """
            WITH stored AS (
                INSERT INTO notifications (\(notificationColumns(extras))) SELECT \(notificationInput(extras))
                ON CONFLICT (id) DO NOTHING
                RETURNING id
            ), \(payloadsOfStored), \(entriesOfStored)\(questionsOfStored(extras))
            SELECT
            """)
    }

    /// The columns of a new row of `notifications`.
    ///
    /// - Parameter extras: the number of the first parameter with extras; `nil` without.
    static func notificationColumns(_ extras: Int?) -> String {
        insertedColumns + (extras == nil ? "" : ", remind, display")
    }

    private static let insertedColumns = """
        id, sender, recipient, presentation, alert_title, alert_body, platforms, created_at, expires_at, not_before,
        collapse_key, priority, traceparent, bounds_push, attempt
        """

    /// ``insertedColumns`` from the arrays of ``PostgresParameters/init(_:capacity:)``, and those of
    /// ``PostgresParameters/appendExtras(_:)``.
    static func notificationInput(_ extras: Int?) -> String {
        insertedInput
            + (extras.map { ", unnest($\($0)::text[]) AS remind, unnest($\($0 + 1)::smallint[]) AS display" } ?? "")
    }

    private static let insertedInput = """
        unnest($1::uuid[]) AS id, unnest($2::text[]) AS sender, unnest($3::text[]) AS recipient,
        unnest($4::smallint[]) AS presentation, unnest($5::text[]) AS alert_title, unnest($6::text[]) AS alert_body,
        unnest($7::text[]) AS platforms, unnest($8::bigint[]) AS created_at, unnest($9::bigint[]) AS expires_at,
        unnest($10::bigint[]) AS not_before, unnest($11::text[]) AS collapse_key, unnest($12::smallint[]) AS priority,
        unnest($13::text[]) AS traceparent, unnest($17::smallint[]) AS bounds_push,
        unnest($18::smallint[]) AS attempt
        """

    private static let payloadInput = """
        unnest($1::uuid[]) AS id, unnest($14::text[]) AS key_id, unnest($15::bytea[]) AS sealed,
        unnest($9::bigint[]) AS purge_at
        """

    private static let entryInput = """
        unnest($1::uuid[]) AS id, unnest($16::bigint[]) AS due_at, unnest($13::text[]) AS traceparent
        """

    /// Adds the payloads of the rows that the CTE `stored` returned.
    ///
    /// `IS TRUE` keeps the planner from turning `IN` into a join: as a subplan it is a lookup in a hash table.
    static let payloadsOfStored = """
        payload AS (
            INSERT INTO payloads (notification_id, key_id, sealed, purge_at)
            SELECT id, key_id, sealed, purge_at FROM (SELECT \(payloadInput)) AS input
            WHERE (id IN (SELECT id FROM stored)) IS TRUE
            ON CONFLICT (notification_id) DO NOTHING
        )
        """

    /// Adds the outbox entries of the rows that the CTE `stored` returned.
    static let entriesOfStored = """
        entry AS (
            INSERT INTO outbox (notification_id, due_at, traceparent)
            SELECT id, due_at, traceparent FROM (SELECT \(entryInput)) AS input
            WHERE (id IN (SELECT id FROM stored)) IS TRUE
            ON CONFLICT (notification_id) DO NOTHING
        )
        """

    /// Adds the questions.
    private static func questions(_ extras: Int?, and condition: String = "") -> String {
        guard let extras else { return "" }
        return """
            , question AS (
                INSERT INTO answers (notification_id, options, challenge)
                SELECT id, options, challenge FROM (
                    SELECT unnest($1::uuid[]) AS id, unnest($\(extras + 2)::text[]) AS options,
                        unnest($\(extras + 3)::bytea[]) AS challenge
                ) AS input
                WHERE options IS NOT NULL\(condition)
            )
            """
    }

    /// Adds the questions of the rows that the CTE `stored` returned.
    static func questionsOfStored(_ extras: Int?) -> String {
        questions(
            extras, and: " AND (id IN (SELECT id FROM stored)) IS TRUE ON CONFLICT (notification_id) DO NOTHING")
    }
}

extension PostgresClient {
    /// Stores a group durably. If one of its notifications is stored already, or the connection broke before the
    /// result, those that are not stored yet are added.
    func append(
        _ group: [SealedNotification], then completion: @escaping GroupCommit<SealedNotification, Void>.Completion
    ) {
        var parameters = PostgresParameters(group)
        let hasExtras = group.contains(where: \.hasExtras)
        if hasExtras { parameters.appendExtras(group) }
        let done: [Void] = Array(repeating: (), count: group.count)
        query(hasExtras ? .appendWithExtras : .append, parameters) { [parameters] result in
            guard case .failure(let error) = result, error.isDuplicate || self.canRepeat(after: error) else {
                return completion(result.decoded { _ in done })
            }
            self.query(hasExtras ? .appendAbsentWithExtras : .appendAbsent, parameters) {
                completion($0.decoded { _ in done })
            }
        }
    }

    /// Whether a statement may have been executed, and there is a connection to send it again.
    private func canRepeat(after error: PostgresError) -> Bool { error.code == .connectionLost && isConnected }

    /// Runs an idempotent statement. If the connection broke before the result, it is repeated once, so that callers
    /// are not left without a result when a server restarts.
    ///
    /// - Parameter completion: gets ``StorageError`` in place of ``PostgresError``.
    func queryRepeating(
        _ statement: PostgresStatement, _ parameters: PostgresParameters,
        then completion: @escaping @Sendable (Result<PostgresResult, any Error>) -> Void
    ) {
        query(statement, parameters) { result in
            guard case .failure(let error) = result, self.canRepeat(after: error) else {
                return completion(result.decoded { $0 })
            }
            self.query(statement, parameters) { completion($0.decoded { $0 }) }
        }
    }

    /// Runs a repeatable statement for a task. Cancelling the task has no effect: the statement may already be
    /// executed.
    ///
    /// - Throws: ``StorageError`` in place of ``PostgresError``.
    func queryRepeating(
        _ statement: PostgresStatement, _ parameters: PostgresParameters
    ) async throws -> PostgresResult {
        try await withCheckedThrowingContinuation { caller in
            queryRepeating(statement, parameters) { caller.resume(with: $0) }
        }
    }

    /// - Throws: ``StorageError`` in place of ``PostgresError``.
    func mapped<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        do { return try await body() } catch { throw StorageError.mapping(error) }
    }
}

extension PostgresError {
    /// A row with this key exists (`unique_violation`).
    fileprivate var isDuplicate: Bool { sqlState == "23505" }
}

extension PostgresParameters {
    /// `$1` to `$18` of the statements that append.
    ///
    /// - Parameter capacity: the expected number of further bytes.
    init(_ group: [SealedNotification], capacity: Int = 0) {
        let size = group.reduce(0) { $0 + $1.payload.bytes.count + 4 }
        self.init(capacity: size + group.count * 320 + 512 + capacity)
        append(group) { PostgresUUID($0.notification.id) }
        append(group) { $0.notification.sender }
        append(group) { $0.notification.recipient.text }
        append(group) { $0.notification.presentation.code }
        append(group) { $0.notification.alert?.title }
        append(group) { $0.notification.alert?.body }
        append(group) { $0.notification.platforms.map(StorageCoding.encode(platforms:)) }
        append(group) { $0.notification.createdAt.milliseconds }
        append(group) { $0.notification.expiresAt.milliseconds }
        append(group) { $0.notification.notBefore?.milliseconds }
        append(group) { $0.notification.collapseKey }
        append(group) { $0.notification.priority?.code }
        append(group) { $0.notification.traceparent }
        append(group) { $0.payload.keyID }
        append(group) { $0.payload.bytes }
        append(group) { OutboxPolicy.due(of: $0.notification).milliseconds }
        append(group) { $0.notification.expiryBoundsPush ? Int16(1) : 0 }
        append(group) { $0.claimsFirstAttempt ? Int16(1) : 0 }
    }

    /// The parameters of what few notifications have; see ``SealedNotification/hasExtras``.
    mutating func appendExtras(_ group: [SealedNotification]) {
        append(group) { StorageCoding.encode(remind: $0.notification.remind) }
        append(group) { $0.notification.display.code }
        append(group) { $0.question.map { StorageCoding.encode(options: $0.options) } }
        append(group) { $0.question?.challenge }
    }
}
