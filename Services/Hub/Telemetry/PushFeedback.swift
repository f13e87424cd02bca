import Domain
import Foundations
import Hummingbird

/// A push service's rejection of a handle: a record of the hub's feedback (`PnsFeedback`).
struct PushFeedback: Sendable {
    let time: Timestamp
    /// The service's name of the outcome: `BadChannel`, `ExpiredChannel`, `WrongToken`, ….
    let error: String
    let platform: NotificationFormat
    let handle: String
    var registrationID: String?
    var installationID: String?
    let messageID: String

    /// The outcomes that reject the handle and not the notification.
    fileprivate static let outcomes: Set<DeliveryOutcome> = [
        .badChannel, .expiredChannel, .wrongToken, .channelDisconnected,
    ]

    /// The record, with elements in the order of the .NET client.
    var document: String {
        let members: [(String, String?)] = [
            ("FeedbackTime", time.description), ("NotificationSystemError", error), ("Platform", platform.rawValue),
            ("PnsHandle", handle), ("RegistrationId", registrationID), ("InstallationId", installationID),
            ("NotificationId", messageID),
        ]
        var output = "<PnsFeedback xmlns=\"\(XMLNamespace.connect)\">"
        for case (let name, let value?) in members { output += "<\(name)>\(XMLWriter.escape(value))</\(name)>" }
        return output + "</PnsFeedback>"
    }
}

/// `GET /{hub}/feedbackcontainer` returns the URL of a blob container, and the emulator is that container: it lists one
/// blob, with one record per line. Azure Storage's own clients, which read the real container, are out of scope.
struct FeedbackController: Sendable {
    private static let blobName = "feedback.xml"

    let state: EmulatorState

    /// - Parameter emulator: `/emulator`, where requests need no token; the service puts one into the URL.
    func addRoutes(to hub: RouterGroup<EmulatorContext>, container emulator: RouterGroup<EmulatorContext>) {
        hub.get("feedbackcontainer", use: locate)
        emulator.get("feedback/:hub", use: list)
        emulator.get("feedback/:hub/\(Self.blobName)", use: read)
    }

    /// The .NET client reads the whole body as the URL.
    @Sendable func locate(_ request: Request, context: EmulatorContext) async throws -> Response {
        let call = try state.gate.admit(request, context, right: .manage)
        return .hub("\(call.origin)/emulator/feedback/\(PercentCoding.encode(call.hubKey))")
    }

    @Sendable func list(_ request: Request, context: EmulatorContext) async throws -> Response {
        let hub = context.parameter("hub").lowercased()
        let blob = feedback(hubKey: hub).isEmpty ? "" : "<Blob><Name>\(Self.blobName)</Name></Blob>"
        return .hub(
            "<?xml version=\"1.0\" encoding=\"utf-8\"?><EnumerationResults ContainerName=\"\(XMLWriter.escape(hub))\">"
                + "<Blobs>\(blob)</Blobs><NextMarker/></EnumerationResults>")
    }

    @Sendable func read(_ request: Request, context: EmulatorContext) async throws -> Response {
        let records = feedback(hubKey: context.parameter("hub").lowercased())
        return .hub(records.map { $0.document + "\n" }.joined())
    }

    /// The feedback of the kept records, the oldest first.
    private func feedback(hubKey: String) -> [PushFeedback] {
        state.log.records(after: nil, limit: nil).filter { $0.hub.lowercased() == hubKey }.flatMap { record in
            record.results.filter { PushFeedback.outcomes.contains($0.outcome) }.map { result in
                PushFeedback(
                    time: record.completedAt ?? record.receivedAt, error: result.outcome.rawValue,
                    platform: result.format, handle: result.handle, messageID: record.id)
            }
        }
    }
}
