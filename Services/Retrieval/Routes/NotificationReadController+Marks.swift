import Domain
import Foundations
import Hummingbird
import NIOCore
import ServiceRuntime

extension NotificationReadController {
    /// Marks the caller's own notifications as read. The answer is the same whatever was marked, so it tells nothing
    /// of the IDs of others.
    @Sendable func markRead(_ request: Request, context: some RequestContext) async throws -> Response {
        let user = try await users.user(of: request, context)
        let marks = try await request.jsonBody(upTo: ReadMarksRequest.maxBodyBytes)
            .readJSON(.object { ReadMarksRequest(&$0) })
        let ids = marks.ids ?? []
        let now = Timestamp.now
        AuditTrail.current?.note(ids: (ids + [marks.through].compactMap(\.self)).map(\.description))
        try await store.markRead(ids, of: user, at: now)
        if let last = marks.through { try await store.markRead(through: last, of: user, at: now) }
        return Response(status: .noContent)
    }
}

/// The body of `POST /api/notifications/read`: `{"Ids":[…]}` or `{"Through":ID}`.
private struct ReadMarksRequest: Sendable {
    let ids: [NotificationID]?
    let through: NotificationID?

    static let maxBodyBytes = 64 * 1024

    init(_ json: inout JSONObjectReader) {
        let given = (json.contains("Ids", isNull: false), json.contains("Through", isNull: false))
        let list = JSONRule.list(of: .notificationID, 0...ReadMarkPolicy.maxIDs) { _ in
            "There may be at most 1,000 IDs."
        }
        ids = json.optional("Ids", list)
        through = json.optional("Through", .notificationID)
        if given == (true, true) { json.note("Give either Ids or Through, not both.", at: "Through") }
        if given == (false, false) { json.note("Give Ids or Through.") }
    }
}
