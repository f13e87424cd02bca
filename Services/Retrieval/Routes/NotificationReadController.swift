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
struct NotificationReadController: Sendable {
    let users: UserAuthenticator
    let store: any PayloadReader & Inbox
    let sealer: PayloadSealer
    let metrics: RetrievalMetrics

    func addRoutes(to router: some RouterMethods<some RequestContext>) {
        router.get("/api/notifications/:id", use: read)
        router.get("/api/notifications", use: list)
    }

    /// Opens the payload and marks it read. An unknown notification, another user's, and one before its `NotBefore` are
    /// the same 404.
    @Sendable func read(_ request: Request, context: some RequestContext) async throws -> Response {
        let user = try await authenticate(request, context)
        let id = context.parameters.get("id").flatMap { NotificationID($0) }
        let found = if let id { try await store.find(id, recipient: user) } else { StoredNotification?.none }
        let now = Timestamp.now
        guard let id, let stored = found, stored.notBefore.map({ $0 <= now }) ?? true else {
            metrics.notFound.increment()
            throw Problem.notFound("There is no such notification.")
        }
        guard !stored.isRevoked, stored.expiresAt > now, let payload = stored.payload else {
            metrics.gone.increment()
            context.logger.debug("Notification is gone", metadata: stored.logMetadata)
            throw Problem.gone(stored.isRevoked ? "The notification was revoked." : "The notification has expired.")
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
        return .json(.ok, Self.json(id: id, payload: text, isRead: stored.readAt != nil))
    }

    /// Lists without payloads and marks nothing.
    @Sendable func list(_ request: Request, context: some RequestContext) async throws -> Response {
        let user = try await users.user(of: request, context)
        let query = try InboxQuery(query: request.uri.query)
        let page = try await store.inbox(
            of: user, unreadOnly: query.unreadOnly, after: query.after, limit: query.limit, now: .now)
        metrics.inboxRequests.increment()
        return .json(.ok, ByteBuffer(string: page.json))
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
    private static func json(id: NotificationID, payload: [UInt8], isRead: Bool) -> ByteBuffer {
        var body = ByteBuffer()
        body.reserveCapacity(payload.count + 96)
        body.writeStaticString(#"{"Id":""#)
        body.writeString(id.description)
        body.writeStaticString(#"","Payload":"#)
        body.writeBytes(payload)
        body.writeStaticString(#","Read":"#)
        body.writeString(isRead ? "true}" : "false}")
        return body
    }
}

extension StoredNotification {
    /// The ID, and the trace of the sender's request.
    fileprivate var logMetadata: Logger.Metadata {
        var metadata: Logger.Metadata = ["notification_id": "\(id)"]
        if let trace = traceparent.flatMap({ TraceContext(traceparent: $0) }) {
            metadata[TraceContext.LogKey.traceID] = "\(trace.traceID)"
            metadata[TraceContext.LogKey.spanID] = "\(trace.spanID)"
        }
        return metadata
    }
}

/// The query of the inbox: `Unread`, `After` and `Limit`.
private struct InboxQuery {
    let unreadOnly: Bool
    let after: NotificationID?
    let limit: Int

    /// - Throws: ``Problem`` 422, naming every invalid parameter.
    init(query: String?) throws(Problem) {
        var parameters = QueryParameters(query, known: ["Unread", "After", "Limit"])
        unreadOnly =
            parameters.take("Unread", "The value must be true or false.") { Bool($0.lowercased()) } ?? false
        after = parameters.take("After", "The value must be the ID of a notification.") { NotificationID($0) }
        limit = parameters.takeNumber("Limit", in: 1...200) ?? 50
        try parameters.check()
    }
}

extension InboxPage {
    /// `{"Notifications":[{"Id","CreatedAt","Read"}],"Unread","Next"}`, without `Next` on the last page.
    fileprivate var json: String {
        let entries = entries.map { #"{"Id":"\#($0.id)","CreatedAt":"\#($0.createdAt)","Read":\#($0.isRead)}"# }
        let next = next.map { #","Next":"\#($0)""# } ?? ""
        return #"{"Notifications":[\#(entries.joined(separator: ","))],"Unread":\#(unread)\#(next)}"#
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
