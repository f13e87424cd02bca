/// A store in this process's memory: the reference semantics that the other stores are held to by one suite of tests,
/// and a store for tests and trials. Nothing outlives the process.
public actor MemoryStore {
    /// A notification with all that is kept beside it.
    struct Row {
        var notification: Notification
        var payload: SealedPayload?
        var status = DispatchStatus.accepted
        var attempt = 0
        /// The attempt that the last outcome was recorded of.
        var recordedAttempt = 0
        var claimedAt: Timestamp?
        var deliveries: [Delivery] = []
        var readAt: Timestamp?
        var revokedAt: Timestamp?
    }

    /// An outbox entry and when it falls due.
    struct Waiting {
        var entry: OutboxEntry
        var due: Timestamp
        /// Whether the broker has confirmed it.
        var isPublished = false
    }

    var rows: [NotificationID: Row] = [:]
    var outbox: [NotificationID: Waiting] = [:]
    /// By the bytes of the folded ID: a `String` as key would hold canonically equivalent texts equal.
    var registrations: [[UInt8]: Registration] = [:]
    var installations: [[UInt8]: Installation] = [:]
    var deviceLeases: [DeviceKey: HeldLease] = [:]
    /// By the device: when the hub is to be asked for all devices with its handle.
    var newHandles: [DeviceKey: Timestamp] = [:]
    var idempotentRequests: [IdempotentRequest.Key: IdempotentRequest] = [:]
    /// Notifications whose rows cannot be read; see ``damage(_:)``.
    var damaged: Set<NotificationID> = []

    public init() {}

    /// How far dispatching of a notification has come; `nil` for an unknown ID.
    public func status(of id: NotificationID) -> DispatchStatus? { rows[id]?.status }

    /// From now on a notification's row cannot be read, as after a change by hand in a database: for tests.
    public func damage(_ id: NotificationID) { damaged.insert(id) }

    /// Why a damaged row cannot be read.
    static let unreadable = StorageError(.failed, "The record was damaged.")
}

extension MemoryStore: Store {
    public func ping(timeout: Duration) async throws {}
}

extension MemoryStore: NotificationWriter {
    public func append(_ notifications: [SealedNotification]) async throws { add(notifications) }

    func add(_ notifications: [SealedNotification]) {
        for sealed in notifications where rows[sealed.notification.id] == nil {
            let notification = sealed.notification
            let entry = OutboxEntry(id: notification.id, traceparent: notification.traceparent)
            rows[notification.id] = Row(notification: notification, payload: sealed.payload)
            outbox[notification.id] = Waiting(entry: entry, due: OutboxPolicy.due(of: notification))
        }
    }
}

extension MemoryStore: PayloadReader {
    public func find(_ id: NotificationID, recipient: UserName) async throws -> StoredNotification? {
        guard let row = rows[id], row.notification.recipient == recipient else { return nil }
        return StoredNotification(
            id: id, createdAt: row.notification.createdAt, expiresAt: row.notification.expiresAt,
            notBefore: row.notification.notBefore, readAt: row.readAt, isRevoked: row.revokedAt != nil,
            payload: row.payload, traceparent: row.notification.traceparent)
    }

    public func markRead(_ id: NotificationID, at time: Timestamp) async throws {
        if rows[id]?.readAt == nil { rows[id]?.readAt = time }
    }
}
