import Hummingbird
import NIOCore
import SecurePushCore
import ServiceRuntime

extension NotificationReadController {
    /// Marks the caller's own notifications as read. The answer is the same whatever was marked, so it tells nothing
    /// of the IDs of others.
    @Sendable func markRead(_ request: Request, context: some RequestContext) async throws -> Response {
        let user = try await users.user(of: request, context)
        let marks = try ReadMarksRequest(await request.jsonBody(upTo: ReadMarksRequest.maxBodyBytes))
        let now = Timestamp.now
        AuditTrail.current?.note(ids: (marks.ids + [marks.through].compactMap(\.self)).map(\.description))
        try await store.markRead(marks.ids, of: user, at: now)
        if let last = marks.through { try await store.markRead(through: last, of: user, at: now) }
        return Response(status: .noContent)
    }

    /// Stores that a device has shown the notification. A body is ignored.
    ///
    /// It is refused as a fetch is, but it does not need the payload: one that a fetch has destroyed was shown too.
    @Sendable func markShown(_ request: Request, context: some RequestContext) async throws -> Response {
        let user = try await users.user(of: request, context)
        guard let id = context.parameters.get("id").flatMap({ NotificationID($0) }) else { throw Self.notFound }
        let state = try await store.states([id], recipient: user)[id]
        let now = Timestamp.now
        guard let state, state.access(at: now) != .absent else { throw Self.notFound }
        guard state.access(at: now) == .readable else { throw Self.gone(state) }
        try await store.markShown(id, at: now)
        return Response(status: .noContent)
    }
}

/// The body of `POST /api/notifications/read`: `{"Ids":[…]}` or `{"Through":ID}`.
private struct ReadMarksRequest: Sendable {
    private(set) var ids: [NotificationID] = []
    private(set) var through: NotificationID?

    static let maxBodyBytes = 64 * 1024

    /// - Throws: ``Problem`` 400 if the body is not JSON, 422 naming every invalid member.
    init(_ body: ByteBuffer) throws {
        self = try body.readJSON { ReadMarksRequest(&$0) }
    }

    private init(_ json: inout JSONObjectReader) {
        let members = json.members(of: json.root, known: ["Ids", "Through"]).filter { $0.value.kind != .null }
        for member in members {
            if member.name == "Ids" {
                ids = Self.ids(member, &json)
            } else {
                through = Self.id(member.value, at: member.pointer, &json)
            }
        }
        if members.count > 1 { json.note("/Through", "Give either Ids or Through, not both.") }
        if members.isEmpty, json.root.kind == .object { json.note("", "Give Ids or Through.") }
    }

    private static func ids(
        _ member: JSONObjectReader.Member, _ json: inout JSONObjectReader
    ) -> [NotificationID] {
        guard let elements = json.array(member.value, at: member.pointer) else { return [] }
        var ids: [NotificationID] = []
        for (index, element) in elements.enumerated() {
            guard index < ReadMarkPolicy.maxIDs else {
                json.note(member.pointer, "There may be at most 1,000 IDs.")
                break
            }
            if let id = id(element, at: "\(member.pointer)/\(index)", &json) { ids.append(id) }
        }
        return ids
    }

    private static func id(
        _ span: JSONSpan, at pointer: String, _ json: inout JSONObjectReader
    ) -> NotificationID? {
        guard let text = json.string(span, at: pointer) else { return nil }
        let id = NotificationID(text)
        if id == nil { json.note(pointer, "The value must be the ID of a notification.") }
        return id
    }
}
