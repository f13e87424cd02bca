import SecurePushCore

/// Makes notifications of requests, seals their payloads and takes them into the store: what the routes have in common.
struct NotificationIntake: Sendable {
    let store: any NotificationWriter & IdempotentWriter
    let sealer: PayloadSealer
    let relay: OutboxRelay
    /// The platforms that a request may name (`HUB_PLATFORMS`).
    let platforms: [Platform]
    /// The lifetime of a payload whose sender set none (`RETENTION`).
    let retention: Duration
    /// The time; tests have their own.
    var now: @Sendable () -> Timestamp = { .now }
    let inFlight = InFlightKeys()
    /// The bytes that the requests in flight may hold; tests have a smaller budget.
    var budget = RequestBudget()
    let turns = StoringTurns()
    let metrics = IntakeMetrics()

    init(
        store: any NotificationWriter & IdempotentWriter, sealer: PayloadSealer, relay: OutboxRelay,
        platforms: [Platform], retention: Duration
    ) {
        self.store = store
        self.sealer = sealer
        self.relay = relay
        self.platforms = platforms
        self.retention = retention
    }

    /// Reads a JSON text.
    func read(
        _ text: UnsafeBufferPointer<UInt8>, now: Timestamp
    ) throws(CreateNotificationRefusal) -> CreateNotificationRequest {
        try CreateNotificationRequest(body: text, available: platforms, retention: retention, now: now)
    }

    /// - Throws: ``PayloadError``.
    func seal(
        _ request: CreateNotificationRequest, from origin: RequestOrigin, now: Timestamp
    ) throws(PayloadError) -> SealedRequest {
        let notifications = request.notifications(
            sender: origin.sender, retention: retention, now: now, traceparent: origin.traceparent)
        var sealed: [SealedNotification] = []
        sealed.reserveCapacity(notifications.count)
        for notification in notifications {
            let payload = try sealer.seal(request.payload, id: notification.id, recipient: notification.recipient)
            sealed.append(SealedNotification(notification: notification, payload: payload))
        }
        let response = NotificationResponse(notifications: notifications, isForMany: request.isForMany)
        return SealedRequest(
            notifications: sealed, answer: IdempotentRequest.Answer(location: response.location, body: response.bytes))
    }

    /// Seals and stores one request in its turn. Returns once it is durable, broker up or not.
    ///
    /// - Throws: ``StorageError`` or ``PayloadError``; nothing is stored then.
    func accept(
        _ request: CreateNotificationRequest, from origin: RequestOrigin, now: Timestamp
    ) async throws -> IdempotentRequest.Answer {
        try await turns.withTurn(of: request.storedBytes) {
            let sealed = try seal(request, from: origin, now: now)
            try await append([sealed])
            return sealed.answer
        }
    }

    /// Returns once all are durable, broker up or not.
    ///
    /// - Throws: ``StorageError``; none is stored then.
    func append(_ requests: [SealedRequest]) async throws {
        try await store.append(requests.count == 1 ? requests[0].notifications : requests.flatMap(\.notifications))
        didAppend(requests)
    }

    /// What follows once notifications are durable.
    func didAppend(_ requests: [SealedRequest]) {
        let notifications = requests.flatMap { $0.notifications.map(\.notification) }
        relay.handOver(notifications)
        metrics.created(notifications)
    }
}
