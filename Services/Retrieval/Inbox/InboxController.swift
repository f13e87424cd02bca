import HTTPTypes
import Hummingbird
import Metrics
import NIOCore
import SecurePushCore
import ServiceRuntime

/// `GET /api/notifications`: what waits for a user, for devices that missed a push. Marks nothing.
struct InboxController: Sendable {
    let caller: CallerAuthentication
    let inbox: any Inbox
    let metrics: RetrievalMetrics

    func addRoutes(to router: some RouterMethods<some RequestContext>) {
        router.get("/api/notifications", use: list)
    }

    @Sendable func list(_ request: Request, context: some RequestContext) async throws -> Response {
        let user = try await caller.authenticate(request.headers[.authorization], from: context.clientAddress)
        let query = try InboxQuery(query: request.uri.query)
        let page = try await inbox.inbox(
            of: user, unreadOnly: query.unreadOnly, after: query.after, limit: query.limit, now: .now)
        metrics.inboxRequests.increment()
        let headers: HTTPFields = [.contentType: "application/json", .cacheControl: "no-store"]
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: page.json)))
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
