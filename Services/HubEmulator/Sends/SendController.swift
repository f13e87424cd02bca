import HTTPTypes
import Hummingbird
import NIOCore

/// `POST /{hub}/messages`: takes a notification and hands it to the simulated devices.
struct SendController: Sendable {
    let gate: HubGate
    let intake: NotificationIntake

    func addRoutes(to hub: RouterGroup<EmulatorContext>) {
        hub.post("messages", use: send)
    }

    @Sendable func send(_ request: Request, context: EmulatorContext) async throws -> Response {
        let call = try gate.admit(request, context, right: .send)
        let send = try await SendRequest(request, call: call)
        let receipt = try await intake.take(send, context: context)
        let location = Self.location(of: receipt, call)
        guard send.kind == .test else { return Self.accepted(location) }
        return Self.accepted(location, document: DebugSendDocument.make(receipt))
    }

    static func location(of receipt: NotificationIntake.Receipt, _ call: HubCall) -> String {
        call.location("messages/\(receipt.record.id)", suffix: receipt.record.kind == .direct ? "&direct" : "")
    }

    /// Recorded: 201, an empty body with a content type, and the location. A debug send has a document.
    static func accepted(_ location: String, document: String = "") -> Response {
        Response(
            status: .created, headers: [.contentType: HubHeaders.xmlContentType, .location: location],
            body: document.isEmpty ? .init() : .init(byteBuffer: ByteBuffer(string: document)))
    }
}
