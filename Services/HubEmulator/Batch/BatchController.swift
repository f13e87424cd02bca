import HTTPTypes
import Hummingbird

/// `POST /{hub}/messages/$batch?direct`: one notification to many handles.
struct BatchController: Sendable {
    let gate: HubGate
    let intake: NotificationIntake

    func addRoutes(to hub: RouterGroup<EmulatorContext>) {
        hub.post("messages/$batch", use: send)
        hub.post("messages/%24batch", use: send)
    }

    @Sendable func send(_ request: Request, context: EmulatorContext) async throws -> Response {
        let call = try gate.admit(request, context, right: .send)
        let send = try await SendRequest(batch: request, call: call)
        let receipt = try await intake.take(send, context: context)
        return SendController.accepted(call.location("messages/$batch/\(receipt.record.id)", suffix: "&direct"))
    }
}
