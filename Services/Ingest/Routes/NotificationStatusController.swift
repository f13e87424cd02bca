import HTTPTypes
import Hummingbird
import NIOCore
import SecurePushCore
import ServiceRuntime

/// What became of a sender's notifications, their revocation, and another try of what failed:
///
/// - `GET /api/notifications/{id}/status`
/// - `GET /api/notifications?Recipient=&Status=&Before=ID&Limit=`
/// - `DELETE /api/notifications/{id}`
/// - `POST /api/notifications/{id}/resend`
///
/// All are for senders with an API key, each of which sees only its own: another's is the same 404 as none.
struct NotificationStatusController: Sendable {
    let caller: CallerAuthentication
    let directory: any SenderNotifications
    /// The platforms fanned out to (`HUB_PLATFORMS`): what is owed where the sender named none.
    let platforms: [Platform]
    /// Publishes an entry of the outbox; what it leaves is published later all the same.
    let handOver: @Sendable (OutboxEntry) -> Void

    func addRoutes(to router: some RouterMethods<some RequestContext>) {
        router.get("/api/notifications/:id/status", use: status)
        router.get("/api/notifications", use: list)
        router.delete("/api/notifications/:id", use: revoke)
        router.post("/api/notifications/:id/resend", use: resend)
    }

    @Sendable func status(_ request: Request, context: some RequestContext) async throws -> Response {
        let sender = try await sender(of: request, from: context.clientAddress)
        guard let id = id(context), let record = try await directory.record(id, sender: sender) else {
            throw NotificationStatusController.notFound
        }
        return .uncached(.ok, json: NotificationStatusBody(record: record, platforms: platforms, now: .now).bytes)
    }

    @Sendable func list(_ request: Request, context: some RequestContext) async throws -> Response {
        let sender = try await sender(of: request, from: context.clientAddress)
        let query = try NotificationQuery(query: request.uri.query, sender: sender)
        let now = Timestamp.now
        let page = try await directory.page(query, now: now)
        return .uncached(.ok, json: NotificationListBody(page: page, now: now).bytes)
    }

    /// The payload is gone once this answers; a repeat answers the same.
    @Sendable func revoke(_ request: Request, context: some RequestContext) async throws -> Response {
        let sender = try await sender(of: request, from: context.clientAddress)
        guard let id = id(context), try await directory.revoke(id, sender: sender, now: .now) else {
            throw NotificationStatusController.notFound
        }
        return Response(status: .noContent, headers: [.cacheControl: "no-store"])
    }

    /// Dispatches again what was given up or refused for good; what was sent is not sent again. A body is ignored.
    @Sendable func resend(_ request: Request, context: some RequestContext) async throws -> Response {
        let sender = try await sender(of: request, from: context.clientAddress)
        guard let id = id(context), let result = try await directory.resend(id, sender: sender, now: .now) else {
            throw NotificationStatusController.notFound
        }
        switch result {
        case .owed(let platforms):
            // A trace of its own: the first one ended with the failure.
            let trace = request.headers.traceContext ?? .random()
            handOver(OutboxEntry(id: id, traceparent: trace.traceparent))
            return .uncached(.accepted, json: NotificationResendBody(id: id, platforms: platforms).bytes)
        case .settled: throw Problem.conflict("Nothing is owed: it has failed on no platform.")
        case .expired: throw Problem.conflict("The payload is gone: the notification has expired.")
        case .revoked: throw Problem.conflict("The payload is gone: the notification was revoked.")
        case .unreadable: throw StorageError(.failed, "The record of the notification cannot be read.")
        }
    }

    private static let notFound = Problem.notFound("There is no such notification.")

    /// Credentials come first: without them nothing is told apart, whatever the path says.
    private func sender(of request: Request, from client: ClientAddress?) async throws -> String {
        let caller = try await caller.authenticate(request.headers[.authorization], from: client)
        guard case .sender(let name) = caller else {
            throw Problem.forbidden(
                "This is for senders with an API key; a user may only send a confirmation to itself.")
        }
        return name
    }

    private func id(_ context: some RequestContext) -> NotificationID? {
        context.parameters.get("id").flatMap { NotificationID($0) }
    }
}

extension Response {
    /// A JSON answer that nobody may keep: it tells who is written to.
    fileprivate static func uncached(_ status: HTTPResponse.Status, json: [UInt8]) -> Response {
        Response(
            status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: json)))
    }
}
