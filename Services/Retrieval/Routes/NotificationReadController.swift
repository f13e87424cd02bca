import Authentication
import HTTPTypes
import Hummingbird
import Logging
import Metrics
import NIOCore
import SecurePushCore
import ServiceRuntime

/// The notifications of a user:
///
/// - `GET /api/notifications/{id}` gives a secret to its owner's device.
/// - `GET /api/notifications` lists the inbox, for devices that missed a push.
/// - `POST /api/notifications/read` marks notifications as read without fetching them.
/// - `POST /api/notifications/{id}/shown` tells that a device has shown a notification.
struct NotificationReadController: Sendable {
    let users: UserAuthenticator
    let store: any PayloadReader & Inbox
    let sealer: PayloadSealer
    let metrics: RetrievalMetrics
    /// Bounds the bytes of pages with payloads that are being written; tests use a smaller budget.
    var budget = RequestBudget()

    func addRoutes(to router: some RouterMethods<some RequestContext>) {
        router.get("/api/notifications/:id", use: read)
        router.get("/api/notifications", use: list)
        router.post("/api/notifications/read", use: markRead)
        router.post("/api/notifications/:id/shown", use: markShown)
    }

    /// Opens the payload and marks it read. An unknown notification, another user's, and one before its `NotBefore` are
    /// the same 404.
    @Sendable func read(_ request: Request, context: some RequestContext) async throws -> Response {
        let user = try await authenticate(request, context)
        let includesUnread = try Self.includesUnread(request.uri.query)
        let id = context.parameters.get("id").flatMap { NotificationID($0) }
        let found = if let id { try await store.find(id, recipient: user) } else { StoredNotification?.none }
        let now = Timestamp.now
        guard let id, let stored = found, stored.state.access(at: now) != .absent else {
            metrics.notFound.increment()
            throw Self.notFound
        }
        guard stored.state.access(at: now) == .readable, let payload = stored.payload else {
            metrics.gone.increment()
            context.logger.debug("Notification is gone", metadata: stored.logMetadata)
            throw Self.gone(stored.state)
        }
        // Opened before it is marked: if its key is missing, the payload has not been read.
        let text = try sealer.open(payload, id: id, recipient: user)
        // HEAD returns no payload, so it marks nothing.
        if stored.readAt == nil, request.method != .head {
            try await store.markRead(id, at: now)
            metrics.firstRead(createdAt: stored.createdAt, at: now)
        }
        metrics.ok.increment()
        context.logger.debug("Notification read", metadata: stored.logMetadata)
        let unread = includesUnread ? try await store.unreadCount(of: user, now: now) : nil
        return .json(.ok, Self.json(id: id, payload: text, isRead: stored.readAt != nil, unread: unread))
    }

    static let notFound = Problem.notFound("There is no such notification.")

    /// The answer to the owner of a notification that was there.
    static func gone(_ state: ReadingState) -> Problem {
        .gone(state.isRevoked ? "The notification was revoked." : "The notification has expired.")
    }

    /// Whether the query has `include=unread`. Other parameters are ignored, as they were before there was this one.
    ///
    /// - Throws: ``Problem`` 422 for another value of `include`.
    private static func includesUnread(_ query: String?) throws(Problem) -> Bool {
        if query == nil { return false }
        var parameters = QueryParameters(query, known: ["include"], ignoresUnknown: true)
        let include = parameters.take("include", "The value must be unread.") { $0 == "unread" ? true : nil }
        try parameters.check()
        return include ?? false
    }

    private func authenticate(_ request: Request, _ context: some RequestContext) async throws -> UserName {
        do {
            return try await users.user(of: request, context)
        } catch let error as AuthenticationError {
            if error.code != .unavailable { metrics.unauthorized.increment() }
            throw error
        }
    }

    /// The JSON text of the payload is copied unchanged.
    private static func json(id: NotificationID, payload: [UInt8], isRead: Bool, unread: Int?) -> ByteBuffer {
        var body = ByteBuffer()
        body.reserveCapacity(payload.count + 128)
        body.writeStaticString(#"{"Id":""#)
        body.writeString(id.description)
        body.writeStaticString(#"","Payload":"#)
        body.writeBytes(payload)
        body.writeStaticString(#","Read":"#)
        body.writeString(isRead ? "true" : "false")
        if let unread { body.writeString(#","Unread":\#(unread)"#) }
        body.writeStaticString("}")
        return body
    }
}

extension StoredNotification {
    /// The ID, and the trace of the sender's request.
    var logMetadata: Logger.Metadata {
        var metadata: Logger.Metadata = ["notification_id": "\(id)"]
        if let trace = traceparent.flatMap({ TraceContext(traceparent: $0) }) {
            metadata[TraceContext.LogKey.traceID] = "\(trace.traceID)"
            metadata[TraceContext.LogKey.spanID] = "\(trace.spanID)"
        }
        return metadata
    }
}

/// Counts reads by result, and measures the time from a notification's creation to its first read.
struct RetrievalMetrics: Sendable {
    let ok: Counter
    let notFound: Counter
    let gone: Counter
    let unauthorized: Counter
    let inboxRequests: Counter
    private let timeToFetch: Timer

    init(_ metrics: PrometheusMetrics) {
        func retrievals(_ result: String) -> Counter {
            Counter(label: "securepush_retrievals_total", dimensions: [("result", result)], factory: metrics)
        }
        ok = retrievals("ok")
        notFound = retrievals("not_found")
        gone = retrievals("gone")
        unauthorized = retrievals("unauthorized")
        inboxRequests = Counter(label: "securepush_inbox_requests_total", factory: metrics)
        timeToFetch = Timer(
            label: "securepush_time_to_fetch_seconds", dimensions: [], preferredDisplayUnit: .seconds,
            factory: metrics)
    }

    /// Records the first read. If the clock went backwards, the time is zero.
    func firstRead(createdAt: Timestamp, at time: Timestamp) {
        timeToFetch.recordMilliseconds(max(0, (time - createdAt).milliseconds))
    }
}
