import Domain
import Foundations
import Postgres

/// A request for one notification by its recipient. Equal requests share only the statement.
struct Reading: Sendable {
    let id: NotificationID
    let recipient: UserName
}

/// A first read, or a first display, that is to be recorded.
struct ReadMark: Sendable {
    let id: NotificationID
    let time: Timestamp
}

extension PostgresStore {
    func find(
        _ ids: [NotificationID], recipient: UserName
    ) async throws -> [NotificationID: StoredNotification] {
        try requireConnection()
        let found = try await readings.submit(ids.map { Reading(id: $0, recipient: recipient) })
        return Dictionary(found.compactMap { $0.map { ($0.id, $0) } }) { first, _ in first }
    }

    func find(
        _ id: NotificationID, recipient: UserName,
        then completion: @escaping @Sendable (Result<StoredNotification?, any Error>) -> Void
    ) {
        if let missingConnection { return completion(.failure(missingConnection)) }
        readings.submit(Reading(id: id, recipient: recipient), then: completion)
    }

    func markRead(_ ids: [NotificationID], at time: Timestamp) async throws {
        try requireConnection()
        _ = try await readMarks.submit(ids.map { ReadMark(id: $0, time: time) })
    }

    func markRead(
        _ id: NotificationID, at time: Timestamp, then completion: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        if let missingConnection { return completion(.failure(missingConnection)) }
        readMarks.submit(ReadMark(id: id, time: time), then: completion)
    }

    func markShown(_ id: NotificationID, at time: Timestamp) async throws {
        try requireConnection()
        _ = try await shownMarks.submit([ReadMark(id: id, time: time)])
    }
}

extension PostgresStatement {
    /// `unnest` in a list of columns costs less than in FROM, where PostgreSQL keeps all rows in a buffer first.
    static let readingInput = """
        SELECT generate_subscripts($1::uuid[], 1)::bigint AS position, unnest($1::uuid[]) AS id,
            unnest($2::text[]) AS recipient
        """

    static let markInput = "SELECT unnest($1::uuid[]) AS id, unnest($2::bigint[]) AS time"

    /// The recipient is part of the query: a missing and another user's notification give the same result.
    fileprivate static let find = PostgresStatement(
        """
        SELECT asked.position, n.created_at, n.expires_at, n.read_at, n.revoked_at IS NOT NULL, p.key_id, p.sealed,
            n.traceparent, n.not_before, n.display
        FROM (\(readingInput)) AS asked
        JOIN notifications AS n ON n.id = asked.id AND n.recipient = asked.recipient COLLATE "C"
        LEFT JOIN payloads AS p ON p.notification_id = n.id
        """)

    /// Also withdraws pushes that a dispatcher with `DISPATCH_WITHDRAW=read` has sent. This role may only insert
    /// follow-ups, so the statement names no unique index.
    fileprivate static let markRead = PostgresStatement(
        """
        WITH marked AS (
            UPDATE notifications AS n SET read_at = reading.time
            FROM (\(markInput)) AS reading
            WHERE n.id = reading.id AND n.read_at IS NULL
            RETURNING n.id, n.read_at, \(isWithdrawnOnRead("n.deliveries")) AS is_withdrawn
        )
        INSERT INTO follow_ups (notification_id, kind, due_at)
        SELECT id, \(FollowUp.Kind.withdrawal.code), read_at FROM marked WHERE is_withdrawn
        ON CONFLICT DO NOTHING
        """)

    fileprivate static let markShown = PostgresStatement(
        """
        UPDATE notifications AS n SET shown_at = shown.time
        FROM (\(markInput)) AS shown
        WHERE n.id = shown.id AND n.shown_at IS NULL
        """)
}

extension PostgresClient {
    func find(_ group: [Reading], then completion: @escaping GroupCommit<Reading, StoredNotification?>.Completion) {
        query(.find, PostgresParameters(group)) { result in
            completion(
                result.decoded { rows in
                    var found = [StoredNotification?](repeating: nil, count: group.count)
                    for row in rows {
                        let position = Int(try row.decode(0, as: Int64.self)) - 1
                        found[position] = try StoredNotification(group[position].id, row)
                    }
                    return found
                })
        }
    }

    func markRead(_ group: [ReadMark], then completion: @escaping GroupCommit<ReadMark, Void>.Completion) {
        let count = group.count
        query(.markRead, PostgresParameters(group)) { result in
            completion(result.decoded { _ in [Void](repeating: (), count: count) })
        }
    }

    func markShown(_ group: [ReadMark]) async throws -> [Void] {
        _ = try await mapped { try await self.query(.markShown, PostgresParameters(group)) }
        return [Void](repeating: (), count: group.count)
    }
}

extension PostgresParameters {
    /// The IDs and the recipients of readings.
    init(_ group: [Reading]) {
        self.init(capacity: group.count * 64 + 64)
        append(group) { PostgresUUID($0.id) }
        append(group) { $0.recipient.text }
    }

    /// The IDs and the times of marks. The earliest is first, because one statement changes a row only once.
    init(_ group: [ReadMark]) {
        let marks = group.sorted { ($0.id, $0.time) < ($1.id, $1.time) }
        self.init(capacity: marks.count * 32 + 64)
        append(marks) { PostgresUUID($0.id) }
        append(marks) { $0.time.milliseconds }
    }
}

extension StoredNotification {
    /// A row of ``PostgresStatement/find``.
    init(_ id: NotificationID, _ row: PostgresRow) throws {
        let keyID = try row.decodeIfPresent(5, as: String.self)
        let sealed = try row.decodeIfPresent(6, as: [UInt8].self)
        self.init(
            id: id, createdAt: try row.timestamp(1), expiresAt: try row.timestamp(2),
            notBefore: try row.timestampIfPresent(8), readAt: try row.timestampIfPresent(3),
            isRevoked: try row.decode(4),
            payload: keyID.flatMap { keyID in sealed.map { SealedPayload(keyID: keyID, bytes: $0) } },
            traceparent: try row.decodeIfPresent(7), display: try Display(stored: row.decodeIfPresent(9)))
    }
}
