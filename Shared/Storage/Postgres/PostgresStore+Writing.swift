import Postgres
import SecurePushCore

extension PostgresStore: NotificationWriter {
    func append(_ notifications: [SealedNotification]) async throws {
        if notifications.isEmpty { return }
        try requireConnection()
        _ = try await appends.submit(notifications)
    }
}

extension PostgresStatement {
    /// One statement, so one round trip and one transaction. A notification that is there already is left as it is, and
    /// gets no second outbox row: a repeat after a lost connection changes nothing.
    ///
    /// `IS TRUE` keeps the planner from making a join of `IN`: as a subplan it is a look-up in a hash table.
    fileprivate static let append = PostgresStatement(
        """
        WITH stored AS (
            INSERT INTO notifications (
                id, sender, recipient, presentation, alert_title, alert_body, platforms, created_at, expires_at,
                not_before, collapse_key, priority, traceparent, bounds_push)
            SELECT unnest($1::uuid[]), unnest($2::text[]), unnest($3::text[]), unnest($4::smallint[]),
                unnest($5::text[]), unnest($6::text[]), unnest($7::text[]), unnest($8::bigint[]),
                unnest($9::bigint[]), unnest($10::bigint[]), unnest($11::text[]), unnest($12::smallint[]),
                unnest($13::text[]), unnest($17::smallint[])
            ON CONFLICT (id) DO NOTHING
            RETURNING id
        ), sealed AS (
            INSERT INTO payloads (notification_id, key_id, sealed)
            SELECT id, key_id, sealed
            FROM (
                SELECT unnest($1::uuid[]) AS id, unnest($14::text[]) AS key_id, unnest($15::bytea[]) AS sealed
            ) AS input
            WHERE (id IN (SELECT id FROM stored)) IS TRUE
            ON CONFLICT (notification_id) DO NOTHING
        )
        INSERT INTO outbox (notification_id, due_at, traceparent)
        SELECT id, due_at, traceparent
        FROM (
            SELECT unnest($1::uuid[]) AS id, unnest($16::bigint[]) AS due_at, unnest($13::text[]) AS traceparent
        ) AS input
        WHERE (id IN (SELECT id FROM stored)) IS TRUE
        ON CONFLICT (notification_id) DO NOTHING
        """)
}

extension PostgresClient {
    /// Makes a group durable. Where the connection broke before the answer, the statement is repeated once, which is
    /// safe, so that a restarting server's clients need not wonder.
    func append(_ group: [SealedNotification]) async throws -> [Void] {
        let parameters = PostgresParameters(group)
        do {
            _ = try await query(.append, parameters)
        } catch let error as PostgresError where error.code == .connectionLost && isConnected {
            _ = try await mapped { try await self.query(.append, parameters) }
        } catch {
            throw StorageError.mapping(error)
        }
        return [Void](repeating: (), count: group.count)
    }

    /// - Throws: ``StorageError`` in place of ``PostgresError``.
    func mapped<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        do { return try await body() } catch { throw StorageError.mapping(error) }
    }
}

extension PostgresParameters {
    /// The columns of ``PostgresStatement/append``.
    fileprivate init(_ group: [SealedNotification]) {
        let size = group.reduce(0) { $0 + $1.payload.bytes.count + 4 }
        self.init(capacity: size + group.count * 320 + 512)
        append(group) { PostgresUUID($0.notification.id) }
        append(group) { $0.notification.sender }
        append(group) { $0.notification.recipient.text }
        append(group) { $0.notification.presentation.code }
        append(group) { $0.notification.alert?.title }
        append(group) { $0.notification.alert?.body }
        append(group) { $0.notification.platforms.map(Platform.list) }
        append(group) { $0.notification.createdAt.milliseconds }
        append(group) { $0.notification.expiresAt.milliseconds }
        append(group) { $0.notification.notBefore?.milliseconds }
        append(group) { $0.notification.collapseKey }
        append(group) { $0.notification.priority?.code }
        append(group) { $0.notification.traceparent }
        append(group) { $0.payload.keyID }
        append(group) { $0.payload.bytes }
        append(group) { OutboxPolicy.due(of: $0.notification).milliseconds }
        append(group) { $0.notification.boundsPush ? Int16(1) : 0 }
    }
}
