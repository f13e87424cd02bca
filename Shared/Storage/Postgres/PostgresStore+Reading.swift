import Postgres
import SecurePushCore

/// Who asks for what; equal askers share nothing but the statement.
struct Reading: Sendable {
    let id: NotificationID
    let recipient: UserName
}

/// A first reading that is to be noted.
struct ReadMark: Sendable {
    let id: NotificationID
    let time: Timestamp
}

extension PostgresStore: PayloadReader {
    func find(_ id: NotificationID, recipient: UserName) async throws -> StoredNotification? {
        try requireConnection()
        return try await readings.submit([Reading(id: id, recipient: recipient)]).first ?? nil
    }

    func markRead(_ id: NotificationID, at time: Timestamp) async throws {
        try requireConnection()
        _ = try await readMarks.submit([ReadMark(id: id, time: time)])
    }
}

extension PostgresStatement {
    /// The owner is part of the question: another's notification is not there.
    fileprivate static let find = PostgresStatement(
        """
        SELECT asked.position, n.created_at, n.expires_at, n.read_at, n.revoked_at IS NOT NULL, p.key_id, p.sealed,
            n.traceparent, n.not_before
        FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS asked (id, recipient, position)
        JOIN notifications AS n ON n.id = asked.id AND n.recipient = asked.recipient COLLATE "C"
        LEFT JOIN payloads AS p ON p.notification_id = n.id
        """)

    fileprivate static let markRead = PostgresStatement(
        """
        UPDATE notifications AS n SET read_at = reading.time
        FROM unnest($1::uuid[], $2::bigint[]) AS reading (id, time)
        WHERE n.id = reading.id AND n.read_at IS NULL
        """)
}

extension PostgresClient {
    func find(_ group: [Reading]) async throws -> [StoredNotification?] {
        var parameters = PostgresParameters(capacity: group.count * 64 + 64)
        parameters.append(group) { PostgresUUID($0.id) }
        parameters.append(group) { $0.recipient.text }
        let result = try await mapped { try await self.query(.find, parameters) }
        return try decoding {
            var found = [StoredNotification?](repeating: nil, count: group.count)
            for row in result {
                let position = Int(try row.decode(0, as: Int64.self)) - 1
                found[position] = try StoredNotification(group[position].id, row)
            }
            return found
        }
    }

    func markRead(_ group: [ReadMark]) async throws -> [Void] {
        // The earliest first: one statement changes a row once.
        let marks = group.sorted { ($0.id, $0.time) < ($1.id, $1.time) }
        var parameters = PostgresParameters(capacity: marks.count * 32 + 64)
        parameters.append(marks) { PostgresUUID($0.id) }
        parameters.append(marks) { $0.time.milliseconds }
        _ = try await mapped { try await self.query(.markRead, parameters) }
        return [Void](repeating: (), count: group.count)
    }
}

extension StoredNotification {
    /// A row of ``PostgresStatement/find``.
    fileprivate init(_ id: NotificationID, _ row: PostgresRow) throws {
        let keyID = try row.decodeIfPresent(5, as: String.self)
        let sealed = try row.decodeIfPresent(6, as: [UInt8].self)
        self.init(
            id: id, createdAt: try row.timestamp(1), expiresAt: try row.timestamp(2),
            notBefore: try row.timestampIfPresent(8), readAt: try row.timestampIfPresent(3),
            isRevoked: try row.decode(4),
            payload: keyID.flatMap { keyID in sealed.map { SealedPayload(keyID: keyID, bytes: $0) } },
            traceparent: try row.decodeIfPresent(7))
    }
}
