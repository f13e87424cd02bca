import Domain
import Foundations
import HTTPTypes
import Hummingbird
import Storage

extension HubFeedbackRow {
    /// The outcomes that reject the handle and not the notification.
    static let rejections: Set<DeliveryOutcome> = [.badChannel, .expiredChannel, .wrongToken, .channelDisconnected]

    /// A record of the hub's feedback (`PnsFeedback`), with elements in the order of the .NET client.
    var document: String {
        let members: [(String, String?)] = [
            ("FeedbackTime", notedAt.description), ("NotificationSystemError", error), ("Platform", platform),
            ("PnsHandle", handle), ("RegistrationId", registrationID), ("InstallationId", installationID),
            ("NotificationId", messageID),
        ]
        var output = "<PnsFeedback xmlns=\"\(XMLNamespace.connect)\">"
        for case (let name, let value?) in members { output += "<\(name)>\(XMLWriter.escape(value))</\(name)>" }
        return output + "</PnsFeedback>"
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
        let tag =
            rows.last.map { "<Properties><Etag>\(rows.count)-\($0.notedAt.milliseconds)</Etag></Properties>" } ?? ""
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
    private func feedback(_ hubKey: String) async throws -> [HubFeedbackRow] {
        await state.delivery.waitForFeedback()
        return try await state.delivery.tables.feedback(hub: hubKey)
    }
}
