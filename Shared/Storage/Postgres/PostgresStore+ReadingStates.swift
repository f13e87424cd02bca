import Postgres
import SecurePushCore

/// A request for the number of a user's unread notifications.
struct UnreadQuestion: Sendable {
    let recipient: UserName
    let now: Timestamp

    /// How many share one statement. Each scans up to ``InboxPage/maxUnreadScan`` rows.
    static var maxGroup: Int { 32 }
}

extension PostgresStore {
    func states(_ ids: [NotificationID], recipient: UserName) async throws -> [NotificationID: ReadingState] {
        try requireConnection()
        let found = try await stateReadings.submit(ids.map { Reading(id: $0, recipient: recipient) })
        var states: [NotificationID: ReadingState] = [:]
        for (id, state) in zip(ids, found) { states[id] = state }
        return states
    }

    func markShown(_ id: NotificationID, at time: Timestamp) async throws {
        try requireConnection()
        _ = try await shownMarks.submit([ReadMark(id: id, time: time)])
    }

    func unreadCount(of recipient: UserName, now: Timestamp) async throws -> Int {
        try requireConnection()
        let counts = try await unreadCounts.submit([UnreadQuestion(recipient: recipient, now: now)])
        return counts.first ?? 0
    }
}

extension PostgresStore {
    func payloadBytes(of ids: [NotificationID], recipient: UserName) async throws -> Int {
        var parameters = PostgresParameters(capacity: ids.count * 32 + 64)
        parameters.append(ids) { PostgresUUID($0) }
        parameters.append(recipient.text)
        let result = try await query(.payloadBytes, parameters)
        return try decoding { Int(try result.first?.decode(0, as: Int64.self) ?? 0) }
    }
}

extension PostgresStatement {
    /// The length of a value that is stored out of line is known without reading the value.
    fileprivate static let payloadBytes = PostgresStatement(
        """
        SELECT coalesce(sum(octet_length(p.sealed)), 0)::bigint
        FROM unnest($1::uuid[]) AS asked (id)
        JOIN notifications AS n ON n.id = asked.id AND n.recipient = $2::text COLLATE "C"
        JOIN payloads AS p ON p.notification_id = n.id
        """)

    /// As ``find``, without the table of payloads.
    fileprivate static let states = PostgresStatement(
        """
        SELECT asked.position, n.expires_at, n.not_before, n.revoked_at IS NOT NULL, n.read_at IS NOT NULL
        FROM (\(readingInput)) AS asked
        JOIN notifications AS n ON n.id = asked.id AND n.recipient = asked.recipient COLLATE "C"
        """)

    fileprivate static let markShown = PostgresStatement(
        """
        UPDATE notifications AS n SET shown_at = shown.time
        FROM (\(markInput)) AS shown
        WHERE n.id = shown.id AND n.shown_at IS NULL
        """)

    fileprivate static let countUnread = PostgresStatement(
        """
        SELECT asked.position, counted.unread
        FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS asked (recipient, now, position),
            LATERAL (
                \(countUnread(of: #"asked.recipient COLLATE "C""#, at: "asked.now"))
            ) AS counted
        """)
}

extension PostgresClient {
    func states(_ group: [Reading]) async throws -> [ReadingState?] {
        let result = try await mapped { try await self.query(.states, PostgresParameters(group)) }
        return try decoding {
            var found = [ReadingState?](repeating: nil, count: group.count)
            for row in result {
                let position = Int(try row.decode(0, as: Int64.self)) - 1
                found[position] = ReadingState(
                    expiresAt: try row.timestamp(1), notBefore: try row.timestampIfPresent(2),
                    isRevoked: try row.decode(3), isRead: try row.decode(4))
            }
            return found
        }
    }

    func markShown(_ group: [ReadMark]) async throws -> [Void] {
        _ = try await mapped { try await self.query(.markShown, PostgresParameters(group)) }
        return [Void](repeating: (), count: group.count)
    }

    func countUnread(_ group: [UnreadQuestion]) async throws -> [Int] {
        var parameters = PostgresParameters(capacity: group.count * 40 + 64)
        parameters.append(group) { $0.recipient.text }
        parameters.append(group) { $0.now.milliseconds }
        let result = try await mapped { try await self.query(.countUnread, parameters) }
        return try decoding {
            var counts = [Int](repeating: 0, count: group.count)
            for row in result {
                counts[Int(try row.decode(0, as: Int64.self)) - 1] = Int(try row.decode(1, as: Int64.self))
            }
            return counts
        }
    }
}
