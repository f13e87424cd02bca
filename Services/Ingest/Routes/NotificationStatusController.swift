import Domain
import Foundations
import HTTPTypes
import Hummingbird
import ServiceRuntime

/// The state of a sender's notifications, their revocation, and the resending of failed ones:
///
/// - `GET /api/notifications/{id}/status`
/// - `GET /api/notifications?Recipient=&Status=&Before=ID&Limit=`
/// - `DELETE /api/notifications/{id}`
/// - `POST /api/notifications/{id}/resend`
///
/// All require an API key. Each sender sees only its own notifications; another sender's is the same 404 as none.
struct NotificationStatusController: Sendable {
    let authentication: SenderAuthentication
    let notifications: any SenderNotifications
    let devices: any DeviceStore
    let reports: any DeviceReportStore
    /// The platforms of this service (`HUB_PLATFORMS`): the targets of a notification whose sender named none.
    let platforms: [Platform]
    /// Opens the text of an answer for the sender who asked.
    let sealer: PayloadSealer
    /// Publishes an entry of the outbox. If it cannot, the outbox's sweep publishes the entry later.
    let handOver: @Sendable (OutboxEntry) -> Void

    @Sendable func status(_ request: Request, context: some RequestContext) async throws -> Response {
        let sender = try await authentication.sender(of: request, context: context)
        guard let id = context.notificationID, let record = try await notifications.record(id, sender: sender) else {
            throw Self.notFound
        }
        let count = try await devices.deviceCount(of: record.recipient)
        let shown = try await reports.shownDevices(of: id, limit: ShownDevice.maxListed)
        let answer = await answer(of: record, logger: context.logger)
        return .json(
            .ok, record.statusJSON(platforms: platforms, devices: count, shown: shown, answer: answer, at: .now))
    }

    @Sendable func list(_ request: Request, context: some RequestContext) async throws -> Response {
        let sender = try await authentication.sender(of: request, context: context)
        let query = try NotificationQuery(query: request.uri.query, sender: sender)
        let now = Timestamp.now
        return .json(.ok, try await notifications.page(query, now: now).json(at: now))
    }

    /// The payload is gone once this responds. A repeat gets the same response.
    @Sendable func revoke(_ request: Request, context: some RequestContext) async throws -> Response {
        let sender = try await authentication.sender(of: request, context: context)
        guard let id = context.notificationID, try await notifications.revoke(id, sender: sender, now: .now) else {
            throw Self.notFound
        }
        return Response(status: .noContent, headers: [.cacheControl: "no-store"])
    }

    /// Dispatches again to the platforms that failed; those that accepted the push are not sent it again. A body is
    /// ignored.
    @Sendable func resend(_ request: Request, context: some RequestContext) async throws -> Response {
        let sender = try await authentication.sender(of: request, context: context)
        guard let id = context.notificationID,
            let result = try await notifications.resend(id, sender: sender, now: .now)
        else {
            throw Self.notFound
        }
        switch result {
        case .owed(let platforms):
            // A new trace unless the request has one: the first trace ended with the failure.
            let trace = request.headers.traceContext ?? .random()
            handOver(OutboxEntry(id: id, traceparent: trace.traceparent))
            return .json(.accepted, Self.resendJSON(id, platforms))
        case .settled: throw Problem.conflict("There is nothing to resend: no platform has failed.")
        case .expired: throw Problem.conflict("The payload is gone: the notification has expired.")
        case .revoked: throw Problem.conflict("The payload is gone: the notification was revoked.")
        case .unreadable: throw StorageError(.failed, "The record of the notification cannot be read.")
        }
    }

    private static let notFound = Problem.notFound("There is no such notification.")

    /// `{"Id":"…","Platforms":["apple"]}`: all platforms that are pending now.
    private static func resendJSON(_ id: NotificationID, _ platforms: [Platform]) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("Id", id.description)
            json.member("Platforms", platforms.map(\.rawValue))
        }
        return json.bytes
    }
}

extension NotificationQuery {
    /// Reads the query of `GET /api/notifications`.
    ///
    /// - Throws: 422 that names every parameter that is unknown, repeated or invalid.
    init(query: String?, sender: String) throws(Problem) {
        var parameters = QueryParameters(query, known: ["Recipient", "Status", "Before", "Limit"])
        let recipient = parameters.take("Recipient", UserName.requirement) { UserName($0) }
        let statuses = NotificationStatus.allCases.map(\.rawValue).joined(separator: ", ")
        let status = parameters.take("Status", "The value must be one of: \(statuses).") {
            NotificationStatus(rawValue: $0)
        }
        let before = parameters.take("Before", NotificationID.requirement) { NotificationID($0) }
        let limit = parameters.takeNumber("Limit", in: 1...200)
        try parameters.check()
        self.init(sender: sender, recipient: recipient, status: status, before: before, limit: limit ?? 50)
    }
}

extension NotificationPage {
    /// The response to `GET /api/notifications`, without payloads.
    fileprivate func json(at now: Timestamp) -> [UInt8] {
        var json = JSONWriter(capacity: 64 + 256 * records.count)
        json.object { json in
            json.array("Notifications") { json in
                for record in records {
                    json.object { json in
                        json.member("Id", record.id.description)
                        json.member("Recipient", record.recipient.text)
                        json.member("Status", record.status(at: now).rawValue)
                        json.member("CreatedAt", record.createdAt.description)
                        json.member("ExpiresAt", record.expiresAt.description)
                        if let readAt = record.readAt { json.member("ReadAt", readAt.description) }
                    }
                }
            }
            if let next { json.member("Next", next.description) }
        }
        return json.bytes
    }
}

extension NotificationRecord {
    /// The response to `GET /api/notifications/{id}/status`. Members without a value are omitted.
    ///
    /// - Parameters:
    ///   - platforms: the platforms of this service (`HUB_PLATFORMS`).
    ///   - devices: how many devices the recipient has now.
    ///   - shown: the reports of devices about shown texts.
    ///   - answer: the result of its question.
    fileprivate func statusJSON(
        platforms: [Platform], devices: Int, shown: [ShownDevice], answer: AnswerReport?, at now: Timestamp
    ) -> [UInt8] {
        var json = JSONWriter(capacity: 512)
        json.object { json in
            json.member("Id", id.description)
            json.member("Status", status(at: now).rawValue)
            json.member("CreatedAt", createdAt.description)
            if let readAt { json.member("ReadAt", readAt.description) }
            if let shownAt { json.member("ShownAt", shownAt.description) }
            json.member("RegisteredDevices", devices)
            if !shown.isEmpty { json.array("Devices") { json in for device in shown { device.write(to: &json) } } }
            json.array("Deliveries") { json in
                for delivery in deliveries(of: platforms, at: now) {
                    json.object { json in
                        json.member("Platform", delivery.platform.rawValue)
                        json.member("State", delivery.state.rawValue)
                        json.member("Attempts", delivery.attempts)
                        if let id = delivery.hubMessageID { json.member("HubMessageId", id) }
                        if let outcome = delivery.outcome { json.member("Outcome", outcome) }
                        if let id = delivery.coalescedInto { json.member("CoalescedInto", id.description) }
                        if let error = delivery.error { json.member("Error", error) }
                        json.member("UpdatedAt", delivery.updatedAt.description)
                        if let time = delivery.withdrawnAt { json.member("Withdrawn", time.description) }
                    }
                }
            }
            if let reminders {
                json.object("Reminders") { json in
                    json.member("Sent", reminders.sent)
                    if let next = reminders.next { json.member("Next", next.description) }
                }
            }
            answer?.write(to: &json)
        }
        return json.bytes
    }

    /// The stored deliveries and, until dispatching is complete, a pending one for each platform without an attempt.
    /// The store has no delivery for a platform before its first attempt.
    private func deliveries(of served: [Platform], at now: Timestamp) -> [Delivery] {
        let isOwed = dispatchStatus == .accepted || dispatchStatus == .queued
        guard isOwed, revokedAt == nil, expiresAt > now else { return deliveries }
        let untried = (platforms ?? served).filter { platform in !deliveries.contains { $0.platform == platform } }
        return deliveries + untried.map { Delivery(platform: $0, state: .pending, updatedAt: createdAt) }
    }
}
