import HTTPTypes
import Hummingbird
import Logging
import Metrics
import NIOCore
import SecurePushCore
import ServiceRuntime

/// `GET /api/notifications/{id}`: gives a secret to its owner's device.
struct NotificationsController: Sendable {
    let caller: CallerAuthentication
    let reader: any PayloadReader
    let sealer: PayloadSealer
    let metrics: RetrievalMetrics

    func addRoutes(to router: some RouterMethods<some RequestContext>) {
        router.get("/api/notifications/:id", use: read)
    }

    /// Opens the payload and marks it read. An unknown notification, another user's, and one that is not due yet
    /// (`NotBefore`) are the same 404.
    @Sendable func read(_ request: Request, context: some RequestContext) async throws -> Response {
        let user = try await authenticate(request, from: context.clientAddress)
        let id = context.parameters.get("id").flatMap { NotificationID($0) }
        let found = if let id { try await reader.find(id, recipient: user) } else { StoredNotification?.none }
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
        // Opened before it is marked: a payload whose key is missing has not been read.
        let text = try sealer.open(payload, id: id, recipient: user)
        // A HEAD gives no payload away, so nothing has been read by it.
        if stored.readAt == nil, request.method != .head {
            try await reader.markRead(id, at: now)
            metrics.firstRead(createdAt: stored.createdAt, at: now)
        }
        metrics.ok.increment()
        context.logger.debug("Notification read", metadata: stored.logMetadata)
        return response(id: id, payload: text, isRead: stored.readAt != nil)
    }

    private func authenticate(_ request: Request, from client: ClientAddress?) async throws -> UserName {
        do {
            return try await caller.authenticate(request.headers[.authorization], from: client)
        } catch let error as AuthenticationError {
            if error.code != .unavailable { metrics.unauthorized.increment() }
            throw error
        }
    }

    /// The payload's own JSON text stands in the answer as it came.
    private func response(id: NotificationID, payload: [UInt8], isRead: Bool) -> Response {
        var body = ByteBuffer()
        body.reserveCapacity(payload.count + 96)
        body.writeStaticString(#"{"Id":""#)
        body.writeString(id.description)
        body.writeStaticString(#"","Payload":"#)
        body.writeBytes(payload)
        body.writeStaticString(#","Read":"#)
        body.writeString(isRead ? "true}" : "false}")
        let headers: HTTPFields = [.contentType: "application/json", .cacheControl: "no-store"]
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: body))
    }
}

extension StoredNotification {
    /// Its ID, and the trace that the sender's request belongs to.
    fileprivate var logMetadata: Logger.Metadata {
        var metadata: Logger.Metadata = ["notification_id": "\(id)"]
        if let trace = traceparent.flatMap({ TraceContext(traceparent: $0) }) {
            metadata[TraceContext.LogKey.traceID] = "\(trace.traceID)"
            metadata[TraceContext.LogKey.spanID] = "\(trace.spanID)"
        }
        return metadata
    }
}
