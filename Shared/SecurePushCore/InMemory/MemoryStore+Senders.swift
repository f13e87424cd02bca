extension MemoryStore: IdempotentWriter {
    public func append(
        _ notifications: [SealedNotification], once request: IdempotentRequest, now: Timestamp
    ) async throws -> IdempotentRequest? {
        if let earlier = idempotentRequests[request.key], earlier.expiresAt > now {
            // The very same request is its caller's second try, whose first one's outcome it did not hear.
            return earlier == request ? nil : earlier
        }
        idempotentRequests[request.key] = request
        add(notifications)
        return nil
    }

    public func request(_ key: IdempotentRequest.Key, now: Timestamp) async throws -> IdempotentRequest? {
        guard let request = idempotentRequests[key], request.expiresAt > now else { return nil }
        return request
    }
}

extension MemoryStore: SenderNotifications {
    public func record(_ id: NotificationID, sender: String) async throws -> NotificationRecord? {
        guard let row = rows[id], row.isOf(sender) else { return nil }
        return NotificationRecord(row)
    }

    public func page(_ query: NotificationQuery, now: Timestamp) async throws -> NotificationPage {
        let found = rows.values.map(NotificationRecord.init)
            .filter { record in
                rows[record.id]?.isOf(query.sender) == true
                    && query.recipient.map { $0 == record.recipient } ?? true
                    && query.status.map { $0 == record.status(at: now) } ?? true
                    && query.before.map { record.id < $0 } ?? true
            }
            .sorted { $1.id < $0.id }
        let records = Array(found.prefix(max(query.limit, 0)))
        return NotificationPage(records: records, next: found.count > records.count ? records.last?.id : nil)
    }

    public func revoke(_ id: NotificationID, sender: String, now: Timestamp) async throws -> Bool {
        guard let row = rows[id], row.isOf(sender) else { return false }
        if row.revokedAt == nil { rows[id]?.revokedAt = now }
        rows[id]?.payload = nil
        outbox[id] = nil
        return true
    }

    public func resend(_ id: NotificationID, sender: String, now: Timestamp) async throws -> ReplayDecision? {
        guard rows[id]?.isOf(sender) == true else { return nil }
        return reopen(id, now: now) { $0.resending(now: now) }
    }
}

extension MemoryStore: Inbox {
    public func inbox(
        of recipient: UserName, unreadOnly: Bool, after: NotificationID?, limit: Int, now: Timestamp
    ) async throws -> InboxPage {
        let readable = rows.values
            .filter { row in
                row.notification.recipient == recipient && row.revokedAt == nil && row.notification.expiresAt > now
                    && row.notification.notBefore.map { $0 <= now } ?? true
            }
            .sorted { $0.notification.id < $1.notification.id }
        let found = readable.filter { row in
            (!unreadOnly || row.readAt == nil) && after.map { $0 < row.notification.id } ?? true
        }
        let entries = found.prefix(max(limit, 0)).map { row in
            InboxPage.Entry(
                id: row.notification.id, createdAt: row.notification.createdAt, isRead: row.readAt != nil)
        }
        return InboxPage(
            entries: entries, unread: readable.count { $0.readAt == nil },
            next: found.count > entries.count ? entries.last?.id : nil)
    }
}

extension MemoryStore: Retention {
    public func purge(limit: Int, now: Timestamp) async throws -> PurgeReport {
        let limit = max(limit, 0)
        let expired = rows.values.filter { $0.payload != nil && $0.notification.expiresAt <= now }.prefix(limit)
        for row in expired { rows[row.notification.id]?.payload = nil }
        let oldest = now - RetentionPolicy.tombstone
        let forgotten = rows.values.filter { $0.payload == nil && $0.notification.expiresAt <= oldest }.prefix(limit)
        for row in forgotten {
            rows[row.notification.id] = nil
            outbox[row.notification.id] = nil
        }
        let keys = idempotentRequests.values.filter { $0.expiresAt <= now }.prefix(limit)
        for request in keys { idempotentRequests[request.key] = nil }
        return PurgeReport(payloads: expired.count, notifications: forgotten.count, keys: keys.count)
    }
}

extension NotificationRecord {
    init(_ row: MemoryStore.Row) {
        let notification = row.notification
        self.init(
            id: notification.id, recipient: notification.recipient, createdAt: notification.createdAt,
            expiresAt: notification.expiresAt, notBefore: notification.notBefore,
            platforms: notification.platforms, dispatchStatus: row.status, deliveries: row.deliveries,
            readAt: row.readAt, revokedAt: row.revokedAt)
    }
}

extension MemoryStore.Row {
    /// Byte for byte, as the other stores compare.
    fileprivate func isOf(_ sender: String) -> Bool { notification.sender.utf8.elementsEqual(sender.utf8) }
}
