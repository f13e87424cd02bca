import HTTPTypes
import Hummingbird
import NIOCore

/// `GET /{hub}/messages/{id}`: what became of a send.
struct TelemetryController: Sendable {
    let gate: HubGate
    let telemetry: any MessageTelemetrySource
    let faults: FaultTable

    func addRoutes(to hub: RouterGroup<EmulatorContext>) {
        hub.get("messages/:id", use: read)
    }

    /// The right is not documented: who may send may ask, and who may manage.
    @Sendable func read(_ request: Request, context: EmulatorContext) async throws -> Response {
        let call = try gate.admit(request, context, right: [.send, .manage])
        let id = PercentDecoding.decode(context.parameters.get("id") ?? "")
        try await faults.inject(faults.effect(on: .telemetry, platform: nil), context: context)
        guard let found = telemetry.telemetry(of: id, hubKey: call.hubKey) else { throw HubError.unknownMessage }
        return Response(
            status: .ok, headers: [.contentType: HubHeaders.xmlContentType],
            body: .init(byteBuffer: ByteBuffer(string: TelemetryDocument.make(found, call: call))))
    }
}
