import Domain
import Foundations

extension SQLiteStore {
    func append(
        _ notifications: [SealedNotification], then completion: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        if notifications.isEmpty { return completion(notRunning.map { .failure($0) } ?? .success(())) }
        let weight = notifications.reduce(0) { $0 + $1.commitWeight }
        let bytes = notifications.reduce(0) { $0 + $1.heldBytes }
        commit("append", weight: weight, bytes: bytes, { try $0.append(notifications) }, then: completion)
    }
}

extension SQLiteTransaction {
    /// An existing notification is not changed and gets no second outbox entry.
    func append(_ notifications: [SealedNotification]) throws {
        for sealed in notifications {
            let new = sealed.notification
            let isNew =
                try run(
                    """
                    INSERT INTO notifications (
                        id, sender, recipient, created_at, expires_at, not_before, presentation, alert_title,
                        alert_body, platforms, collapse_key, priority, traceparent, bounds_push, remind, display,
                        attempt
                    ) VALUES (
                        \(new.id), \(new.sender), \(new.recipient), \(new.createdAt), \(new.expiresAt),
                        \(new.notBefore), \(new.presentation.code), \(new.alert?.title), \(new.alert?.body),
                        \(new.platforms.map(StorageCoding.encode(platforms:))), \(new.collapseKey),
                        \(new.priority?.code), \(new.traceparent), \(new.expiryBoundsPush),
                        \(StorageCoding.encode(remind: new.remind)), \(new.display.code),
                        \(sealed.claimsFirstAttempt)
                    ) ON CONFLICT (id) DO NOTHING
                    """) > 0
            guard isNew else { continue }
            try run(
                """
                INSERT INTO payloads (notification_id, key_id, sealed, purge_at)
                VALUES (\(new.id), \(sealed.payload.keyID), \(sealed.payload.bytes), \(new.expiresAt))
                """)
            try run(
                """
                INSERT INTO outbox (notification_id, due_at, traceparent)
                VALUES (\(new.id), \(OutboxPolicy.due(of: new)), \(new.traceparent))
                """)
            guard let question = sealed.question else { continue }
            try run(
                """
                INSERT INTO answers (notification_id, options, challenge)
                VALUES (\(new.id), \(StorageCoding.encode(options: question.options)), \(question.challenge))
                """)
        }
    }
}

extension SQLiteStore {
    func append(
        _ notifications: [SealedNotification], once request: IdempotentRequest, now: Timestamp
    ) async throws -> IdempotentRequest? {
        let weight = notifications.reduce(1) { $0 + $1.commitWeight }
        let bytes = notifications.reduce(512 + request.answer.body.count) { $0 + $1.heldBytes }
        return try await commit(weight: weight, bytes: bytes) { db in
            try db.append(notifications, once: request, now: now)
        }
    }

    func request(_ key: IdempotentRequest.Key, now: Timestamp) async throws -> IdempotentRequest? {
        try checkRunning()
        return try await database.read { db in try SQLiteTransaction(db).request(key, now: now) }
    }
}

extension SQLiteTransaction {
    /// The writer's lock is held from the lookup of the key to the commit, so no other process can interfere.
    ///
    /// - Returns: the earlier request with this key; `nil` if the notifications were stored.
    func append(
        _ notifications: [SealedNotification], once request: IdempotentRequest, now: Timestamp
    ) throws -> IdempotentRequest? {
        if let earlier = try self.request(request.key, now: now) {
            // The same request again means that its caller retries because the first result was lost.
            return earlier == request ? nil : earlier
        }
        // An expired key may still be there.
        try run(
            """
            INSERT INTO idempotency_keys (sender, value, line, fingerprint, location, body, expires_at)
            VALUES (
                \(request.key.sender), \(request.key.value), \(request.key.line), \(request.fingerprint),
                \(request.answer.location), \(request.answer.body), \(request.expiresAt))
            ON CONFLICT (sender, value, line) DO UPDATE SET fingerprint = excluded.fingerprint,
                location = excluded.location, body = excluded.body, expires_at = excluded.expires_at
            """)
        try append(notifications)
        return nil
    }

    /// The unexpired request with this key.
    func request(_ key: IdempotentRequest.Key, now: Timestamp) throws -> IdempotentRequest? {
        try first(
            """
            SELECT fingerprint, location, body, expires_at FROM idempotency_keys
            WHERE sender = \(key.sender) AND value = \(key.value) AND line = \(key.line) AND expires_at > \(now)
            """
        ) { row in
            IdempotentRequest(
                key: key, fingerprint: try row(),
                answer: IdempotentRequest.Answer(location: try row(), body: try row()), expiresAt: try row())
        }
    }
}

extension SQLiteStore {
    func find(
        _ id: NotificationID, recipient: UserName,
        then completion: @escaping @Sendable (Result<StoredNotification?, any Error>) -> Void
    ) {
        if let notRunning { return completion(.failure(notRunning)) }
        finds.submit(SQLiteFind(id: id, recipient: recipient), then: completion)
    }

    func find(_ ids: [NotificationID], recipient: UserName) async throws -> [NotificationID: StoredNotification] {
        try checkRunning()
        let found = try await finds.submit(ids.map { SQLiteFind(id: $0, recipient: recipient) })
        return Dictionary(found.compactMap { $0.map { ($0.id, $0) } }) { first, _ in first }
    }

    func markRead(_ ids: [NotificationID], at time: Timestamp) async throws {
        _ = try await commit(each: ids, "markRead") { db, id in try db.markRead(id, at: time) }
    }

    func markRead(
        _ id: NotificationID, at time: Timestamp, then completion: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        commit("markRead", { try $0.markRead(id, at: time) }, then: completion)
    }

    func markShown(_ id: NotificationID, at time: Timestamp) async throws {
        try await run("UPDATE notifications SET shown_at = \(time) WHERE id = \(id) AND shown_at IS NULL")
    }
}

extension SQLiteTransaction {
    /// Marks it as read, and withdraws a push that a dispatcher with `DISPATCH_WITHDRAW=read` has sent.
    func markRead(_ id: NotificationID, at time: Timestamp) throws {
        // No row if it was read before.
        let isWithdrawn: Bool? = try first(
            """
            UPDATE notifications SET read_at = \(time) WHERE id = \(id) AND read_at IS NULL
            RETURNING instr(coalesce(deliveries, ''), \(StorageCoding.withdrawnOnRead)) > 0
            """)
        if isWithdrawn == true { try run(FollowUpRow.withdrawal(of: id, now: time)) }
    }
}

/// A read of one notification by its recipient; several share a read transaction.
struct SQLiteFind: Sendable {
    var id: NotificationID
    var recipient: UserName

    /// The recipient is part of the query: a missing and another user's notification give the same result.
    func execute(_ db: SQLiteTransaction) throws -> StoredNotification? {
        try db.first(
            """
            SELECT created_at, expires_at, not_before, read_at, revoked_at IS NOT NULL, key_id, sealed, traceparent,
                display
            FROM notifications LEFT JOIN payloads ON notification_id = id
            WHERE id = \(id) AND recipient = \(recipient)
            """
        ) { row in
            let (createdAt, expiresAt): (Timestamp, Timestamp) = (try row(), try row())
            let (notBefore, readAt): (Timestamp?, Timestamp?) = (try row(), try row())
            let (isRevoked, keyID, sealed): (Bool, String?, [UInt8]?) = (try row(), try row(), try row())
            return StoredNotification(
                id: id, createdAt: createdAt, expiresAt: expiresAt, notBefore: notBefore, readAt: readAt,
                isRevoked: isRevoked,
                payload: keyID.flatMap { keyID in sealed.map { SealedPayload(keyID: keyID, bytes: $0) } },
                traceparent: try row(), display: try Display(stored: row()))
        }
    }
}
