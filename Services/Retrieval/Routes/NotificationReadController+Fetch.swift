import Authentication
import Domain
import Foundations
import HTTPTypes
import Hummingbird
import Logging
import Metrics
import NIOCore
import ServiceRuntime

/// `GET /api/notifications/{id}`, in steps that both ways of the route share. Between two steps each way waits for the
/// store: the router's with a task, the direct one with a callback.
extension NotificationReadController {
    /// A payload that was opened for its owner.
    struct Opened: Sendable {
        let stored: StoredNotification
        let text: [UInt8]
        let time: Timestamp
    }

    /// Opens the payload and marks it read. An unknown notification, another user's, and one before its `NotBefore` are
    /// the same 404.
    @Sendable func read(_ request: Request, context: some RequestContext) async throws -> Response {
        let user = try await authenticate(request, context)
        let includesUnread = try Self.includesUnread(request.uri.query)
        let id = context.notificationID
        let found = if let id { try await store.find(id, recipient: user) } else { StoredNotification?.none }
        // HEAD returns no payload, so it opens, marks and counts nothing.
        if request.method == .head {
            let (stored, payload, time) = try readable(found, trace: .current, logger: context.logger)
            let unread = includesUnread ? try await store.unreadCount(of: user, now: time) : nil
            return Opened.head(of: stored, payload, unread: unread)
        }
        if isMissingKey(of: found) { await sealer.check() }
        let opened = try open(found, for: user, trace: .current, logger: context.logger)
        if opened.isFirstRead {
            try await store.markRead(opened.stored.id, at: opened.time)
            countFirstRead(opened)
        }
        countRead(opened, logger: context.logger)
        let unread = includesUnread ? try await store.unreadCount(of: user, now: opened.time) : nil
        return opened.response(unread: unread).response
    }

    /// Answers a device whose token was verified before directly. Everything else is left to the router.
    ///
    /// Decision: docs/decisions/0007-direct-routes.md
    @Sendable func readDirectly(_ request: DirectRequest, _ reply: DirectReply) -> Bool {
        guard let id = NotificationID(request.parameter),
            let user = users.remembered(authorization: request.authorization)
        else { return false }
        let (logger, trace) = (request.debugLogger, request.trace)
        store.find(id, recipient: user) { found in
            let answer: @Sendable () -> Void = {
                do {
                    self.answer(try open(found.get(), for: user, trace: trace, logger: logger), logger, reply)
                } catch {
                    reply(.failure(error))
                }
            }
            guard case .success(let stored) = found, isMissingKey(of: stored) else {
                return reply.onEventLoop(answer)
            }
            // The file is read on another thread, a second at most.
            Task {
                await sealer.check()
                reply.onEventLoop(answer)
            }
        }
        return true
    }

    /// Whether the key may just have been added to the file, because another service has begun to seal with it.
    private func isMissingKey(of found: StoredNotification?) -> Bool {
        found?.payload.map(sealer.isMissingKey) ?? false
    }

    private func answer(_ opened: Opened, _ logger: Logger?, _ reply: DirectReply) {
        guard opened.isFirstRead else {
            countRead(opened, logger: logger)
            return reply(.success(opened.response(unread: nil)))
        }
        store.markRead(opened.stored.id, at: opened.time) { marked in
            reply {
                try marked.get()
                countFirstRead(opened)
                countRead(opened, logger: logger)
                return opened.response(unread: nil)
            }
        }
    }

    /// The payload is opened before it is marked: if its key is missing, it has not been read.
    ///
    /// - Parameter trace: of the request; it joins the notification's.
    /// - Throws: ``Problem`` 404 or 410, or `PayloadError`.
    private func open(
        _ found: StoredNotification?, for user: UserName, trace: RequestTrace?, logger: Logger?
    ) throws -> Opened {
        let (stored, payload, time) = try readable(found, trace: trace, logger: logger)
        return Opened(stored: stored, text: try sealer.open(payload, id: stored.id, recipient: user), time: time)
    }

    /// - Throws: ``Problem`` 404 or 410.
    private func readable(
        _ found: StoredNotification?, trace: RequestTrace?, logger: Logger?
    ) throws -> (StoredNotification, SealedPayload, Timestamp) {
        let now = Timestamp.now
        guard let stored = found, stored.state.access(at: now) != .absent else {
            metrics.notFound.increment()
            throw Self.notFound
        }
        trace?.join(stored.traceparent)
        guard stored.state.access(at: now) == .readable, let payload = stored.payload else {
            metrics.gone.increment()
            logger?.debug("Notification is gone", metadata: stored.logMetadata)
            throw Self.gone(stored.state)
        }
        return (stored, payload, now)
    }

    private func countFirstRead(_ opened: Opened) {
        metrics.firstRead(createdAt: opened.stored.createdAt, at: opened.time)
    }

    private func countRead(_ opened: Opened, logger: Logger?) {
        metrics.ok.increment()
        logger?.debug("Notification read", metadata: opened.stored.logMetadata)
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
}

extension NotificationReadController.Opened {
    var isFirstRead: Bool { stored.readAt == nil }

    /// The JSON text of the payload is copied unchanged.
    func response(unread: Int?) -> CompleteResponse { .json(.ok, body(unread: unread)) }

    /// The answer to `HEAD`: the length is known without the payload's key.
    static func head(of stored: StoredNotification, _ payload: SealedPayload, unread: Int?) -> Response {
        let rest = Self(stored: stored, text: [], time: .now).body(unread: unread).readableBytes
        var response = Response.json(.ok, ByteBuffer())
        response.headers[.contentLength] = "\(rest + payload.openedCount)"
        return response
    }

    private func body(unread: Int?) -> ByteBuffer {
        var body = ByteBuffer()
        body.reserveCapacity(text.count + 192)
        body.writeStaticString(#"{"Id":""#)
        body.writeString(stored.id.description)
        body.writeString(#"",\#(stored.state.members),"Payload":"#)
        body.writeBytes(text)
        body.writeStaticString(#","Read":"#)
        body.writeStaticString(stored.readAt == nil ? "false" : "true")
        if let unread { body.writeString(#","Unread":\#(unread)"#) }
        body.writeStaticString("}")
        return body
    }
}

extension ReadingState {
    /// The members that tell a device how long it may show a payload, and where.
    var members: String {
        let display = display == .full ? "" : #","Display":"\#(display.rawValue)""#
        return #""ExpiresAt":"\#(expiresAt)"\#(display)"#
    }
}
