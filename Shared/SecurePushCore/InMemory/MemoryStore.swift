/// A store in the memory of this process, for tests and trials. Nothing survives the process. It is the reference for
/// the other stores: one test suite runs against all of them.
package actor MemoryStore {
    /// A notification with everything that is stored with it.
    struct Row {
        var notification: Notification
        var payload: SealedPayload?
        var status = DispatchStatus.accepted
        var attempt = 0
        /// The attempt of the last recorded outcome.
        var recordedAttempt = 0
        var claimedAt: Timestamp?
        var deliveries: [Delivery] = []
        var readAt: Timestamp?
        var revokedAt: Timestamp?
        var shownAt: Timestamp?
    }

    /// An outbox entry and when it becomes due.
    struct Waiting {
        var entry: OutboxEntry
        var due: Timestamp
        /// Whether the broker has confirmed it.
        var isPublished = false
        /// Whether it waits for a time although it was published before. A confirm of that publish comes too late.
        var isPostponed = false
    }

    var rows: [NotificationID: Row] = [:]
    var outbox: [NotificationID: Waiting] = [:]
    /// By the bytes of the folded ID, because canonically equivalent strings are equal as keys.
    var registrations: [[UInt8]: Registration] = [:]
    var installations: [[UInt8]: Installation] = [:]
    var deviceLeases: [DeviceKey: HeldLease] = [:]
    /// By the device: when the hub is asked for all devices with its handle.
    var newHandles: [DeviceKey: Timestamp] = [:]
    var devicePlaces: [DeviceKey: [DevicePlace]] = [:]
    var silentPushes: [SilentPushKey: SilentPushState] = [:]
    var refreshFamilies: [[UInt8]: RefreshFamily] = [:]
    var idempotentRequests: [IdempotentRequest.Key: IdempotentRequest] = [:]
    var followUps: [FollowUp: WaitingFollowUp] = [:]
    var outcomeWatch = OutcomeWatch()
    let withdrawals: WithdrawalMode
    /// Notifications whose rows cannot be read; see ``damage(_:)``.
    var damaged: Set<NotificationID> = []

    /// An empty store.
    ///
    /// - Parameter withdrawals: when a dispatcher withdraws notifications that were revoked or read before it recorded
    ///   their push.
    package init(withdrawals: WithdrawalMode = .revoked) { self.withdrawals = withdrawals }

    /// The progress of dispatching a notification; `nil` for an unknown ID.
    package func status(of id: NotificationID) -> DispatchStatus? { rows[id]?.status }

    /// Makes the row of a notification unreadable, as a manual change in a database could. For tests.
    package func damage(_ id: NotificationID) { damaged.insert(id) }

    /// Why a damaged row cannot be read.
    static let unreadable = StorageError(.failed, "The record was damaged.")
}

extension MemoryStore: Store {
    package func ping(timeout: Duration) async throws {}
}

extension MemoryStore: NotificationWriter {
    package func append(_ notifications: [SealedNotification]) async throws { add(notifications) }

    func add(_ notifications: [SealedNotification]) {
        for sealed in notifications where rows[sealed.notification.id] == nil {
            let notification = sealed.notification
            let entry = OutboxEntry(id: notification.id, traceparent: notification.traceparent)
            rows[notification.id] = Row(
                notification: notification, payload: sealed.payload, attempt: sealed.claimsFirstAttempt ? 1 : 0)
            outbox[notification.id] = Waiting(entry: entry, due: OutboxPolicy.due(of: notification))
        }
    }
}

extension MemoryStore: PayloadReader {
    package func find(_ id: NotificationID, recipient: UserName) async throws -> StoredNotification? {
        guard let row = rows[id], row.notification.recipient == recipient else { return nil }
        return StoredNotification(
            id: id, createdAt: row.notification.createdAt, expiresAt: row.notification.expiresAt,
            notBefore: row.notification.notBefore, readAt: row.readAt, isRevoked: row.revokedAt != nil,
            payload: row.payload, traceparent: row.notification.traceparent)
    }

    package func markRead(_ ids: [NotificationID], at time: Timestamp) async throws {
        for id in ids where rows[id]?.readAt == nil {
            rows[id]?.readAt = time
            withdraw(id, now: time) { $0.isWithdrawnOnRead }
        }
    }

    package func find(
        _ ids: [NotificationID], recipient: UserName
    ) async throws -> [NotificationID: StoredNotification] {
        var found: [NotificationID: StoredNotification] = [:]
        for id in ids { found[id] = try await find(id, recipient: recipient) }
        return found
    }

    package func payloadBytes(of ids: [NotificationID], recipient: UserName) async throws -> Int {
        try await find(ids, recipient: recipient).values.reduce(0) { $0 + ($1.payload?.bytes.count ?? 0) }
    }

    package func states(
        _ ids: [NotificationID], recipient: UserName
    ) async throws -> [NotificationID: ReadingState] {
        try await find(ids, recipient: recipient).mapValues(\.state)
    }

    package func markShown(_ id: NotificationID, at time: Timestamp) async throws {
        if rows[id]?.shownAt == nil { rows[id]?.shownAt = time }
    }
}

extension MemoryStore: IdempotentWriter {
    package func append(
        _ notifications: [SealedNotification], once request: IdempotentRequest, now: Timestamp
    ) async throws -> IdempotentRequest? {
        if let earlier = idempotentRequests[request.key], earlier.expiresAt > now {
            // An identical request is a second try of a caller that did not learn the outcome of the first.
            return earlier == request ? nil : earlier
        }
        idempotentRequests[request.key] = request
        add(notifications)
        return nil
    }

    package func request(_ key: IdempotentRequest.Key, now: Timestamp) async throws -> IdempotentRequest? {
        guard let request = idempotentRequests[key], request.expiresAt > now else { return nil }
        return request
    }
}

extension MemoryStore: SenderNotifications {
    package func record(_ id: NotificationID, sender: String) async throws -> NotificationRecord? {
        guard let row = rows[id], row.isOf(sender) else { return nil }
        return recordWithFollowUps(row)
    }

    package func page(_ query: NotificationQuery, now: Timestamp) async throws -> NotificationPage {
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

    package func revoke(_ id: NotificationID, sender: String, now: Timestamp) async throws -> Bool {
        guard let row = rows[id], row.isOf(sender) else { return false }
        rows[id]?.payload = nil
        outbox[id] = nil
        if row.revokedAt == nil {
            rows[id]?.revokedAt = now
            withdraw(id, now: now)
        }
        return true
    }

    package func resend(_ id: NotificationID, sender: String, now: Timestamp) async throws -> ReplayDecision? {
        guard rows[id]?.isOf(sender) == true else { return nil }
        return reopen(id, now: now) { $0.resending(now: now) }
    }
}

extension MemoryStore: Inbox {
    package func inbox(
        of recipient: UserName, unreadOnly: Bool, after: NotificationID?, limit: Int, now: Timestamp
    ) async throws -> InboxPage {
        let isReadable = { (row: Row) in
            row.revokedAt == nil && row.notification.expiresAt > now
                && row.notification.notBefore.map { $0 <= now } ?? true
        }
        let all = rows.values.filter { $0.notification.recipient == recipient }
            .sorted { $0.notification.id < $1.notification.id }
        let readable = all.filter(isReadable)
        let found = readable.filter { row in
            (!unreadOnly || row.readAt == nil) && after.map { $0 < row.notification.id } ?? true
        }
        let entries = found.prefix(max(limit, 0)).map { row in
            InboxPage.Entry(
                id: row.notification.id, createdAt: row.notification.createdAt, isRead: row.readAt != nil)
        }
        return InboxPage(
            entries: entries,
            unread: all.suffix(InboxPage.maxUnreadScan).count { isReadable($0) && $0.readAt == nil },
            next: found.count > entries.count ? entries.last?.id : nil)
    }

    package func unreadCount(of recipient: UserName, now: Timestamp) async throws -> Int {
        try await inbox(of: recipient, unreadOnly: true, after: nil, limit: 0, now: now).unread
    }
}

extension MemoryStore: Retention {
    package func purge(limit: Int, now: Timestamp) async throws -> PurgeReport {
        let limit = max(limit, 0)
        let expired = rows.values.filter { $0.payload != nil && $0.notification.expiresAt <= now }.prefix(limit)
        for row in expired { rows[row.notification.id]?.payload = nil }
        let oldest = now - RetentionPolicy.tombstone
        let forgotten = rows.values.filter { $0.payload == nil && $0.notification.expiresAt <= oldest }.prefix(limit)
        for row in forgotten {
            rows[row.notification.id] = nil
            outbox[row.notification.id] = nil
            for kind in FollowUp.Kind.allCases { followUps[FollowUp(id: row.notification.id, kind: kind)] = nil }
            forgetSilentPushes(of: row.notification.recipient, until: oldest)
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
            readAt: row.readAt, revokedAt: row.revokedAt, shownAt: row.shownAt)
    }
}

extension MemoryStore.Row {
    /// Byte for byte, as the other stores compare.
    fileprivate func isOf(_ sender: String) -> Bool { notification.sender.utf8.elementsEqual(sender.utf8) }
}
