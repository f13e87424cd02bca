import Domain
import Foundations
import Hummingbird
import Logging
import Metrics
import NIOCore
import ServiceRuntime

extension NotificationReadController {
    /// Lists a page of the inbox. Without payloads it marks nothing.
    @Sendable func list(_ request: Request, context: some RequestContext) async throws -> Response {
        let user = try await users.user(of: request, context)
        let query = try InboxQuery(query: request.uri.query)
        // A page without payloads gets no line in the audit log.
        if query.includesPayloads { try await AuditTrail.current?.check() }
        let now = Timestamp.now
        let page = try await store.inbox(
            of: user, unreadOnly: query.unreadOnly, after: query.after, limit: query.limit, now: now)
        metrics.inboxRequests.increment()
        guard query.includesPayloads else { return .json(.ok, ByteBuffer(string: page.json)) }
        if request.method == .head { return try await head(of: page, for: user) }
        let reservation = budget.reservation()
        // Before anything is loaded. Each payload is in memory twice: as the store has it, and opened in the answer.
        let bytes = try await store.payloadBytes(of: page.entries.map(\.id), recipient: user)
        try reservation.add(2 * bytes)
        var stored = try await store.find(page.entries.map(\.id), recipient: user)
        if stored.values.contains(where: { $0.payload.map(sealer.isMissingKey) ?? false }) { await sealer.check() }
        var opened = OpenedPage(page, &stored, bytes, of: user, at: now, sealer: sealer, logger: context.logger)
        stored = [:]
        reservation.release(bytes)
        let isMarked = !opened.firstRead.isEmpty
        if isMarked { try await store.markRead(opened.firstRead.map(\.id), at: now) }
        record(opened, at: now)
        AuditTrail.current?.note(read: opened.read.map(\.description))
        let unread = isMarked ? try await store.unreadCount(of: user, now: now) : page.unread
        return .json(opened.finish(unread: unread, next: page.next), holding: reservation)
    }

    /// The answer to `HEAD` of a page with payloads: nothing is loaded, opened, marked or counted as read. The store
    /// knows the length of each payload.
    private func head(of page: InboxPage, for user: UserName) async throws -> Response {
        let ids = page.entries.map(\.id)
        let sealed = try await store.payloadBytes(of: ids, recipient: user)
        let states = try await store.states(ids, recipient: user).values
        let members = states.reduce(ids.count * #",,"Payload":"#.utf8.count) { $0 + $1.members.utf8.count }
        let payloads = sealed + members - ids.count * SealedPayload.overhead
        // GET marks the page before it counts.
        var marked = page
        marked.unread = max(0, page.unread - page.entries.count(where: { !$0.isRead }))
        AuditTrail.current?.note(read: ids.map(\.description), as: "read.head")
        var response = Response.json(.ok, ByteBuffer())
        response.headers[.contentLength] = "\(max(0, marked.json.utf8.count + payloads))"
        return response
    }

    /// Counts each payload as a read.
    private func record(_ page: OpenedPage, at now: Timestamp) {
        metrics.ok.increment(by: Int64(page.read.count))
        for entry in page.firstRead { metrics.firstRead(createdAt: entry.createdAt, at: now) }
    }
}

/// The query of the inbox: `Unread`, `After`, `Limit` and `include`.
private struct InboxQuery {
    /// The maximum number of entries of a page with payloads: at most 5 MiB.
    static let maxPayloads = 20

    let unreadOnly: Bool
    let after: NotificationID?
    let includesPayloads: Bool
    let limit: Int

    /// - Throws: ``Problem`` 422, naming every invalid parameter.
    init(query: String?) throws(Problem) {
        var parameters = QueryParameters(query, known: ["Unread", "After", "Limit", "include"])
        unreadOnly =
            parameters.take("Unread", "The value must be true or false.") { Bool($0.lowercased()) } ?? false
        after = parameters.take("After", NotificationID.requirement) { NotificationID($0) }
        includesPayloads =
            parameters.take("include", "The value must be payload.") { $0 == "payload" ? true : nil } ?? false
        let limit = parameters.takeNumber("Limit", in: 1...200) ?? 50
        self.limit = includesPayloads ? min(limit, Self.maxPayloads) : limit
        try parameters.check()
    }
}

/// A page of the inbox with opened payloads, as JSON that is being written.
///
/// One entry never spoils the others. An entry that was revoked or destroyed since the list was made is left out. An
/// entry whose payload cannot be opened is listed without `Payload`, stays unread, and is logged as an error: its key
/// is missing, or the stored bytes were changed.
private struct OpenedPage {
    /// The notifications whose payloads are on the page.
    private(set) var read: [NotificationID] = []
    /// The entries that nobody had read before.
    private(set) var firstRead: [InboxPage.Entry] = []
    private var body = ByteBuffer()

    /// - Parameters:
    ///   - stored: notifications that are opened are removed from it.
    ///   - bytes: the size of all payloads in `stored`.
    init(
        _ page: InboxPage, _ stored: inout [NotificationID: StoredNotification], _ bytes: Int, of user: UserName,
        at now: Timestamp, sealer: PayloadSealer, logger: Logger
    ) {
        body.reserveCapacity(bytes + page.entries.count * 192 + 128)
        body.writeStaticString(#"{"Notifications":["#)
        var separator = ""
        for entry in page.entries {
            // Removed, so that a page is not in memory twice.
            guard let notification = stored.removeValue(forKey: entry.id), let sealed = notification.payload,
                notification.state.access(at: now) == .readable
            else { continue }
            body.writeString("\(separator){\(entry.members),\(notification.state.members)")
            separator = ","
            do {
                let payload = try sealer.open(sealed, id: entry.id, recipient: user)
                body.writeStaticString(#","Payload":"#)
                body.writeBytes(payload)
                read.append(entry.id)
                if notification.readAt == nil { firstRead.append(entry) }
                logger.debug("Notification read", metadata: notification.logMetadata)
            } catch {
                logger.error(
                    "A payload could not be opened",
                    metadata: notification.logMetadata.merging(["error": "\(error)"]) { first, _ in first })
            }
            body.writeStaticString("}")
        }
    }

    /// The whole text.
    mutating func finish(unread: Int, next: NotificationID?) -> ByteBuffer {
        body.writeString(#"],"Unread":\#(unread)"#)
        if let next { body.writeString(#","Next":"\#(next)""#) }
        body.writeStaticString("}")
        return body
    }
}

extension InboxPage {
    /// `{"Notifications":[{"Id","CreatedAt","Read"}],"Unread","Next"}`, without `Next` on the last page.
    fileprivate var json: String {
        let entries = entries.map { "{\($0.members)}" }
        let next = next.map { #","Next":"\#($0)""# } ?? ""
        return #"{"Notifications":[\#(entries.joined(separator: ","))],"Unread":\#(unread)\#(next)}"#
    }
}

extension InboxPage.Entry {
    /// The members of an entry without a payload.
    fileprivate var members: String { #""Id":"\#(id)","CreatedAt":"\#(createdAt)","Read":\#(isRead)"# }
}

extension Response {
    /// A JSON answer that keeps its share of the budget until it is written, or given up.
    fileprivate static func json(_ body: ByteBuffer, holding reservation: RequestBudget.Reservation) -> Response {
        var response = Response.json(.ok, body)
        response.body = ResponseBody(contentLength: body.readableBytes) { writer in
            defer { reservation.release() }
            try await writer.write(body)
            try await writer.finish(nil)
        }
        return response
    }
}
