import Domain
import Foundations
import Metrics
import ServiceRuntime
import Synchronization

/// Turns requests into notifications, seals their payloads and stores them: the part that all routes share.
struct NotificationAcceptor: Sendable {
    let store: any NotificationWriter
    let sealer: PayloadSealer
    let relay: OutboxRelay
    /// The platforms that a request may name (`HUB_PLATFORMS`).
    let platforms: [Platform]
    /// The lifetime of a payload whose sender set none (`RETENTION`).
    let retention: Duration
    /// Whether every payload must be encrypted end to end (`RECIPIENT_E2E_REQUIRED`).
    var requiresEncryption = false
    /// The current time; tests replace it.
    var now: @Sendable () -> Timestamp = { .now }
    /// Bounds how often a user sends to itself; `nil` for no limit.
    var userLimit: RateLimiter?
    /// Bounds the bytes of the requests in flight; tests use a smaller budget.
    var budget = RequestBudget()
    /// How long a batch may go on without a line; tests use less.
    var maxBatchIdle = BatchLimit.maxIdle
    let largeRequests = LargeRequestQueue()
    private let inFlight = InFlightKeys()
    private let metrics = AcceptedMetrics()

    /// Reads the JSON text of a request.
    func read(
        _ text: UnsafeBufferPointer<UInt8>, now: Timestamp
    ) throws(CreateNotificationRefusal) -> CreateNotificationRequest {
        try CreateNotificationRequest(
            body: text, available: platforms, retention: retention, requiresEncryption: requiresEncryption, now: now)
    }

    /// The tutorial's "Send push", which is not encrypted end to end.
    ///
    /// - Throws: ``Problem`` 422 if every payload must be.
    func confirmation(to user: UserName) throws(Problem) -> CreateNotificationRequest {
        guard requiresEncryption else { return .confirmation(to: user) }
        var issues = MemberIssues()
        issues.note("/Payload", EncryptedPayload.confirmationIssue)
        throw .invalidFields(issues)
    }

    /// - Throws: ``PayloadError``.
    func seal(
        _ request: CreateNotificationRequest, from origin: RequestOrigin, now: Timestamp
    ) throws(PayloadError) -> SealedRequest {
        let notifications = request.notifications(
            sender: origin.sender, retention: retention, now: now, traceparent: origin.traceparent)
        // One that goes to the sweep has no first message, and a claimed attempt would look like a lost one.
        let claimsFirst = request.notBefore == nil && relay.takesEntries
        var sealed: [SealedNotification] = []
        sealed.reserveCapacity(notifications.count)
        for notification in notifications {
            let payload = try sealer.seal(request.payload, id: notification.id, recipient: notification.recipient)
            sealed.append(
                SealedNotification(
                    notification: notification, payload: payload, claimsFirstAttempt: claimsFirst,
                    question: request.question(of: notification.id, to: notification.recipient, sealer)))
        }
        let response = NotificationResponse(notifications: notifications, isForMany: request.isForMany)
        return SealedRequest(
            notifications: sealed, answer: IdempotentRequest.Answer(location: response.location, body: response.bytes))
    }

    /// Seals and stores one request in its turn. Returns once it is durable, whether or not the broker is reachable.
    ///
    /// - Throws: ``StorageError`` or ``PayloadError``; nothing is stored then.
    func accept(
        _ request: CreateNotificationRequest, from origin: RequestOrigin, now: Timestamp
    ) async throws -> IdempotentRequest.Answer {
        try await largeRequests.withSlot(of: request.storedBytes) {
            let sealed = try seal(request, from: origin, now: now)
            try await append([sealed])
            return sealed.answer
        }
    }

    /// Seals and stores a small request, which waits for no turn.
    ///
    /// - Parameter completion: called exactly once, on any thread.
    func accept(
        _ request: CreateNotificationRequest, from origin: RequestOrigin, now: Timestamp,
        then completion: @escaping @Sendable (Result<IdempotentRequest.Answer, any Error>) -> Void
    ) {
        do {
            let sealed = try seal(request, from: origin, now: now)
            store.append(sealed.notifications) { result in
                completion(
                    result.map {
                        didAppend(sealed.notifications)
                        return sealed.answer
                    })
            }
        } catch {
            completion(.failure(error))
        }
    }

    /// Stores requests in one transaction. Returns once all are durable.
    ///
    /// - Throws: ``StorageError``; none is stored then.
    func append(_ requests: [SealedRequest]) async throws {
        let notifications = requests.count == 1 ? requests[0].notifications : requests.flatMap(\.notifications)
        try await store.append(notifications)
        didAppend(notifications)
    }

    /// Hands durable notifications to the relay and counts them.
    private func didAppend(_ notifications: [SealedNotification]) {
        relay.handOver(notifications)
        metrics.created(notifications)
    }
}

// MARK: - Idempotency-Key

extension NotificationAcceptor {
    /// How long a key and its answer are kept.
    static let keyLifetime = Duration.seconds(86_400)

    /// Accepts a request at most once per key.
    ///
    /// A repeat is answered 409 only while this process handles the first request. If another process handles it, the
    /// repeat waits in the store for the first one's transaction and then returns its answer. This needs no reservation
    /// row, which a crash would leave behind.
    ///
    /// The key is looked up first only if the request is refused: it may repeat a request that was valid then, and
    /// whose dates have passed since. For all other requests the store finds an earlier one during the append, so that
    /// a first request costs one statement.
    ///
    /// - Parameters:
    ///   - body: the bytes as received; the same key with another body is an error.
    ///   - request: the request, or why it is refused; a refusal leaves the key free.
    /// - Throws: the refusal; ``StorageError``; ``Problem``: 409 while the key is in use, 422 for another body.
    ///
    /// Decision: docs/decisions/0009-idempotency-key-commits-with-its-notifications.md
    func acceptOnce(
        _ key: IdempotentRequest.Key, body: [UInt8], now: Timestamp,
        request: Result<CreateNotificationRequest, any Error>, from origin: RequestOrigin
    ) async throws -> IdempotentOutcome {
        guard inFlight.insert(key) else {
            throw Problem.conflict(
                "A request with this Idempotency-Key is in progress; retry in one second.", retryAfter: .seconds(1))
        }
        defer { inFlight.remove(key) }
        switch request {
        case .success(let request):
            return try await largeRequests.withSlot(of: request.storedBytes) {
                try await append(try seal(request, from: origin, now: now), once: key, body: body, now: now)
            }
        case .failure(let refusal):
            guard let earlier = try await store.request(key, now: now) else { throw refusal }
            return try await replay(earlier, body: body)
        }
    }

    private func append(
        _ sealed: SealedRequest, once key: IdempotentRequest.Key, body: [UInt8], now: Timestamp
    ) async throws -> IdempotentOutcome {
        let request = IdempotentRequest(
            key: key, fingerprint: sealer.fingerprint(of: body, context: key.fingerprintContext),
            answer: sealed.answer, expiresAt: now + Self.keyLifetime)
        if let earlier = try await store.append(sealed.notifications, once: request, now: now) {
            return try await replay(earlier, body: body)
        }
        didAppend(sealed.notifications)
        return IdempotentOutcome(answer: sealed.answer, isReplay: false)
    }

    private func replay(_ earlier: IdempotentRequest, body: [UInt8]) async throws(Problem) -> IdempotentOutcome {
        let context = earlier.key.fingerprintContext
        var isSame = sealer.isFingerprint(earlier.fingerprint, of: body, context: context)
        if isSame == nil {
            // Another process may have just begun to use a new key.
            await sealer.check()
            isSame = sealer.isFingerprint(earlier.fingerprint, of: body, context: context)
        }
        switch isSame {
        case true?:
            metrics.replayed(earlier.key)
            return IdempotentOutcome(answer: earlier.answer, isReplay: true)
        case false?:
            throw .idempotencyKeyReused("This Idempotency-Key was used with a different body; use a new key.")
        case nil:
            // The earlier answer could hide that this body was never sent.
            throw .idempotencyKeyReused(
                "This Idempotency-Key was used before the payload keys changed, so the bodies can no longer be "
                    + "compared; check whether the notification was sent before you use a new key.")
        }
    }
}

/// The idempotency keys of the requests that this process is handling.
private final class InFlightKeys: Sendable {
    private let keys = Mutex<Set<IdempotentRequest.Key>>([])

    /// - Returns: `false` if the key is in use; otherwise the caller must ``remove(_:)`` it.
    func insert(_ key: IdempotentRequest.Key) -> Bool { keys.withLock { $0.insert(key).inserted } }

    func remove(_ key: IdempotentRequest.Key) { keys.withLock { _ = $0.remove(key) } }
}

extension Problem {
    fileprivate static func idempotencyKeyReused(_ detail: String) -> Problem {
        var problem = Problem.unprocessable(detail)
        problem.type = "urn:securepush:problem:idempotency-key-reused"
        problem.title = "Idempotency-Key Reused"
        return problem
    }
}

extension IdempotentRequest.Key {
    /// Unique per key: NUL ends each part, and no part contains one.
    fileprivate var fingerprintContext: [UInt8] { Array("\(line)\0\(value)\0\(sender)".utf8) }
}

// MARK: - Values

/// How a request ended.
struct IdempotentOutcome: Sendable {
    let answer: IdempotentRequest.Answer
    /// Whether the request repeats an earlier one and gets that one's answer.
    let isReplay: Bool
}

/// A request whose notifications are sealed: the rows for the store, and the answer to the sender.
struct SealedRequest: Sendable {
    let notifications: [SealedNotification]
    let answer: IdempotentRequest.Answer
}

struct RequestOrigin: Sendable {
    /// See ``Notification/sender``.
    let sender: String
    /// W3C Trace Context: the sender's, or a new one.
    let traceparent: String

    /// - Parameter traceparent: the sender's; `nil` starts a new trace.
    init(sender: String, traceparent: String?) {
        self.sender = sender
        self.traceparent = traceparent ?? TraceContext.random().traceparent
    }
}

/// Counts the notifications that were answered with 201.
private struct AcceptedMetrics: Sendable {
    private let createdBySenders = Metric.notificationsAccepted.counter("sender", "created")
    private let createdByUsers = Metric.notificationsAccepted.counter("user", "created")
    private let replayedToSenders = Metric.notificationsAccepted.counter("sender", "replayed")
    private let replayedToUsers = Metric.notificationsAccepted.counter("user", "replayed")

    /// Counts notifications of one call, which all have the same sender.
    func created(_ notifications: [SealedNotification]) {
        guard let first = notifications.first?.notification else { return }
        let counter = SenderAuthentication.Caller.isUser(first.sender) ? createdByUsers : createdBySenders
        counter.increment(by: notifications.count)
    }

    /// Counts a request that got an earlier answer.
    func replayed(_ key: IdempotentRequest.Key) {
        (SenderAuthentication.Caller.isUser(key.sender) ? replayedToUsers : replayedToSenders).increment()
    }
}
