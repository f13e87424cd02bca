import Domain
import Foundations
import HTTPTypes
import Hummingbird
import Storage

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
    static let outcomes: Set<DeliveryOutcome> = [
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

extension PushFeedback {
    /// Nil for a platform that this version does not know.
    init?(_ row: HubFeedbackRow) {
        guard let platform = NotificationFormat(rawValue: row.platform) else { return nil }
        self.init(
            time: row.notedAt, error: row.error, platform: platform, handle: row.handle,
            registrationID: row.registrationID, installationID: row.installationID, messageID: row.messageID)
    }
}

/// `GET /{hub}/feedbackcontainer` returns the URL of a blob container, and the hub is that container: it lists one blob,
/// with one record per line. Azure Storage's own clients, which read the real container, are out of scope.
///
/// A client sends no token to the container: the URL holds ``FeedbackAccess``, as the service's URLs hold a signature.
struct FeedbackController: Sendable {
    private static let blobName = "feedback.xml"

    let state: EmulatorState

    func addRoutes(to hub: RouterGroup<EmulatorContext>) {
        hub.get("feedbackcontainer", use: locate)
        hub.get("feedbackcontainer/files", use: list)
        hub.get("feedbackcontainer/files/\(Self.blobName)", use: read)
    }

    /// The .NET client reads the whole body as the URL.
    @Sendable func locate(_ request: Request, context: EmulatorContext) async throws -> Response {
        let (call, access) = try state.gate.admitToLocateFeedback(request, context)
        return .hub("\(call.base)/feedbackcontainer/files?\(access.query)")
    }

    @Sendable func list(_ request: Request, context: EmulatorContext) async throws -> Response {
        let call = try state.gate.admitToFeedback(request, context)
        let rows = try await feedback(call.hubKey)
        // The newest record identifies the version of the blob.
        let tag = rows.last.map { "<Properties><Etag>\(rows.count)-\($0.time.milliseconds)</Etag></Properties>" } ?? ""
        let blob = rows.isEmpty ? "" : "<Blob><Name>\(Self.blobName)</Name>\(tag)</Blob>"
        return .hub(
            "<?xml version=\"1.0\" encoding=\"utf-8\"?>"
                + "<EnumerationResults ContainerName=\"\(XMLWriter.escape(call.hubKey))\">"
                + "<Blobs>\(blob)</Blobs><NextMarker/></EnumerationResults>")
    }

    @Sendable func read(_ request: Request, context: EmulatorContext) async throws -> Response {
        let call = try state.gate.admitToFeedback(request, context)
        return .hub(try await feedback(call.hubKey).map { $0.document + "\n" }.joined())
    }

    /// The newest feedback, the oldest first.
    private func feedback(_ hubKey: String) async throws -> [PushFeedback] {
        await state.delivery.waitForFeedback()
        return try await state.delivery.tables.feedback(hub: hubKey).compactMap(PushFeedback.init)
    }
}
