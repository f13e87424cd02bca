import HTTPTypes
import Hummingbird
import NIOCore

/// `GET /{hub}/feedbackcontainer` gives the URL of a blob container, and the emulator is that container: it lists one
/// blob, with a record a line. The real container is read with Azure Storage's own clients; those are out of scope.
struct FeedbackController: Sendable {
    static let blobName = "feedback.xml"

    let gate: HubGate
    let feedback: any PushFeedbackSource

    func addRoutes(to hub: RouterGroup<EmulatorContext>) {
        hub.get("feedbackcontainer", use: locate)
    }

    /// - Parameter emulator: `/emulator`, where no token is asked for; the service puts one into the URL.
    func addContainerRoutes(to emulator: RouterGroup<EmulatorContext>) {
        emulator.get("feedback/:hub", use: list)
        emulator.get("feedback/:hub/\(Self.blobName)", use: read)
    }

    /// The .NET client takes the whole body as the URL.
    @Sendable func locate(_ request: Request, context: EmulatorContext) async throws -> Response {
        let call = try gate.admit(request, context, right: .manage)
        let url = "\(call.origin)/emulator/feedback/\(call.hubKey.pathEscaped)"
        return Response(
            status: .ok, headers: [.contentType: HubHeaders.xmlContentType],
            body: .init(byteBuffer: ByteBuffer(string: url)))
    }

    @Sendable func list(_ request: Request, context: EmulatorContext) async throws -> Response {
        let hub = Self.hubKey(context)
        let count = feedback.feedback(hubKey: hub).count
        let blob = count == 0 ? "" : "<Blob><Name>\(Self.blobName)</Name></Blob>"
        let document =
            "<?xml version=\"1.0\" encoding=\"utf-8\"?><EnumerationResults ContainerName=\"\(XMLWriter.escape(hub))\">"
            + "<Blobs>\(blob)</Blobs><NextMarker/></EnumerationResults>"
        return Self.xml(document)
    }

    @Sendable func read(_ request: Request, context: EmulatorContext) async throws -> Response {
        let records = feedback.feedback(hubKey: Self.hubKey(context))
        return Self.xml(records.map { $0.document + "\n" }.joined())
    }

    private static func hubKey(_ context: EmulatorContext) -> String {
        PercentDecoding.decode(context.parameters.get("hub") ?? "").lowercased()
    }

    private static func xml(_ document: String) -> Response {
        Response(
            status: .ok, headers: [.contentType: HubHeaders.xmlContentType],
            body: .init(byteBuffer: ByteBuffer(string: document)))
    }
}
