import HTTPTypes
import Hummingbird
import Logging
import Metrics
import NIOCore
import SecurePushCore
import ServiceRuntime

/// `POST /api/notifications`: takes a secret for a user.
struct NotificationsController: Sendable {
    let caller: CallerAuthentication
    let writer: any NotificationWriter
    let sealer: PayloadSealer
    let relay: OutboxRelay
    /// The platforms that a request may name (`HUB_PLATFORMS`).
    let platforms: [Platform]
    /// The lifetime of a payload whose sender set none (`RETENTION`).
    let retention: Duration
    let accepted = Counter(label: "securepush_notifications_accepted_total")

    func addRoutes(to router: some RouterMethods<some RequestContext>) {
        router.post("/api/notifications", use: create)
    }

    /// Answers once the notifications are durable, broker up or not.
    @Sendable func create(_ request: Request, context: some RequestContext) async throws -> Response {
        let caller = try await caller.authenticate(request.headers[.authorization])
        let body = try await body(of: request)
        let now = Timestamp.now
        let wanted: CreateNotificationRequest
        switch caller {
        case .sender:
            wanted = try read(body, contentType: request.headers[.contentType], now: now)
        case .user(let name):
            guard body.readableBytes == 0 else {
                throw Problem.forbidden("A user may only send a confirmation to itself, with an empty body.")
            }
            wanted = .confirmation(to: name)
        }
        let notifications = wanted.notifications(
            sender: caller.name, retention: retention, now: now, traceparent: request.headers[.traceparent])
        try await store(notifications, payload: wanted.payload)
        accepted.increment(by: notifications.count)
        return response(NotificationResponse(notifications: notifications, isForMany: wanted.isForMany))
    }

    /// The whole body; past the limit it is refused unread.
    private func body(of request: Request) async throws -> ByteBuffer {
        let limit = CreateNotificationRequest.Limit.bodyBytes
        let tooLarge = Problem.contentTooLarge("The body may be at most 2 MiB.")
        if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > limit { throw tooLarge }
        do {
            return try await request.body.collect(upTo: limit)
        } catch is NIOTooManyBytesError {
            throw tooLarge
        }
    }

    private func read(
        _ body: ByteBuffer, contentType: String?, now: Timestamp
    ) throws -> CreateNotificationRequest {
        guard body.readableBytes > 0 else {
            throw Problem.badRequest("The body is empty; a sender gives a Recipient and a Payload as JSON.")
        }
        guard MediaType.isJSON(contentType) else {
            throw Problem.unsupportedMediaType("The body must be application/json in UTF-8.")
        }
        do {
            return try body.withUnsafeReadableBytes { bytes throws in
                try CreateNotificationRequest(
                    body: bytes.assumingMemoryBound(to: UInt8.self), available: platforms, now: now)
            }
        } catch let refusal as CreateNotificationRefusal {
            throw refusal.problem
        }
    }

    private func store(_ notifications: [Notification], payload: [UInt8]) async throws {
        let sealed = try notifications.map { notification in
            SealedNotification(
                notification: notification,
                payload: try sealer.seal(payload, id: notification.id, recipient: notification.recipient))
        }
        try await writer.append(sealed)
        relay.handOver(notifications)
    }

    private func response(_ answer: NotificationResponse) -> Response {
        var headers: HTTPFields = [.contentType: "application/json"]
        headers[.location] = answer.location
        return Response(status: .created, headers: headers, body: ResponseBody(byteBuffer: answer.body))
    }
}

extension HTTPField.Name {
    /// W3C Trace Context.
    static let traceparent = HTTPField.Name("traceparent")!
}
