import Foundation
import GRDB
import SecurePushCore

extension SQLiteStore: NotificationWriter {
    func append(_ notifications: [SealedNotification]) async throws {
        _ = try await submit(notifications.map { .append($0) })
    }

    func append(
        _ notifications: [SealedNotification], then completion: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        if let notRunning { return completion(.failure(notRunning)) }
        writes.submit(notifications.map { .append($0) }) { completion($0.map { _ in }) }
    }
}

extension SQLiteStore: PayloadReader {
    func find(_ id: NotificationID, recipient: UserName) async throws -> StoredNotification? {
        try checkRunning()
        return try await finds.submit([SQLiteFind(id: id, recipient: recipient)])[0]
    }

    func find(
        _ id: NotificationID, recipient: UserName,
        then completion: @escaping @Sendable (Result<StoredNotification?, any Error>) -> Void
    ) {
        if let notRunning { return completion(.failure(notRunning)) }
        finds.submit(SQLiteFind(id: id, recipient: recipient), then: completion)
    }

    func find(
        _ ids: [NotificationID], recipient: UserName
    ) async throws -> [NotificationID: StoredNotification] {
        try checkRunning()
        let found = try await finds.submit(ids.map { SQLiteFind(id: $0, recipient: recipient) })
        return Dictionary(found.compactMap { $0.map { ($0.id, $0) } }) { first, _ in first }
    }

    func markRead(_ ids: [NotificationID], at time: Timestamp) async throws {
        _ = try await submit(ids.map { .markRead($0, time) })
    }

    func markRead(
        _ id: NotificationID, at time: Timestamp, then completion: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        if let notRunning { return completion(.failure(notRunning)) }
        writes.submit(.markRead(id, time)) { completion($0.map { _ in }) }
    }

    func markShown(_ id: NotificationID, at time: Timestamp) async throws {
        _ = try await submit([.markShown(id, time)])
    }
}

/// A read of one notification by its recipient; several share a read transaction.
struct SQLiteFind: Sendable {
    var id: NotificationID
    var recipient: UserName

    /// See ``FailedWork``.
    var kind: String { "find" }

    /// The recipient is part of the query: a missing and another user's notification give the same result.
    func execute(_ db: Database) throws -> StoredNotification? {
        let statement = try db.cachedStatement(
            sql: """
                SELECT created_at, expires_at, read_at, revoked_at, traceparent, key_id, sealed, not_before
                FROM notifications LEFT JOIN payloads ON notification_id = id WHERE id = ? AND recipient = ?
                """)
        guard let row = try Row.fetchOne(statement, arguments: [id.data, recipient.text]) else { return nil }
        guard let createdAt = row.timestamp(0), let expiresAt = row.timestamp(1) else {
            throw Row.unreadable("created_at")
        }
        let payload: SealedPayload?
        if let keyID: String = row[5], let sealed: Data = row[6] {
            payload = SealedPayload(keyID: keyID, bytes: [UInt8](sealed))
        } else {
            payload = nil
        }
        return StoredNotification(
            id: id, createdAt: createdAt, expiresAt: expiresAt, notBefore: row.timestamp(7), readAt: row.timestamp(2),
            isRevoked: row.timestamp(3) != nil, payload: payload, traceparent: row[4])
    }
}

extension SQLiteStore: IdempotentWriter {
    func append(
        _ notifications: [SealedNotification], once request: IdempotentRequest, now: Timestamp
    ) async throws -> IdempotentRequest? {
        guard case .earlier(let earlier)? = try await submit([.appendOnce(notifications, request, now: now)]).first
        else { return nil }
        return earlier
    }

    func request(_ key: IdempotentRequest.Key, now: Timestamp) async throws -> IdempotentRequest? {
        try checkRunning()
        return try await database.read { db in try IdempotentRequest.fetch(key, now: now, db) }
    }
}
