import HTTPTypes
import Hummingbird

/// `/{hub}/schedulednotifications`: notifications for later, and taking them back.
struct ScheduleController: Sendable {
    let gate: HubGate
    let intake: NotificationIntake

    func addRoutes(to hub: RouterGroup<EmulatorContext>) {
        hub.post("schedulednotifications", use: schedule)
        hub.delete("schedulednotifications/:id", use: cancel)
    }

    @Sendable func schedule(_ request: Request, context: EmulatorContext) async throws -> Response {
        let call = try gate.admit(request, context, right: .send)
        let send = try await SendRequest(scheduling: request, call: call)
        let receipt = try await intake.take(send, context: context)
        return SendController.accepted(call.location("schedulednotifications/\(receipt.record.id)"))
    }

    @Sendable func cancel(_ request: Request, context: EmulatorContext) async throws -> Response {
        let call = try gate.admit(request, context, right: .send)
        let effect = intake.faults.effect(on: .cancel, platform: nil)
        try await intake.faults.inject(effect, context: context)
        let id = PercentDecoding.decode(context.parameters.get("id") ?? "")
        guard let cancelled = intake.schedules.cancel(id, hubKey: call.hubKey) else {
            throw HubError(.notFound, detail: "There is no scheduled notification of this id.")
        }
        intake.log.update(cancelled.sequence) { record in
            guard record.id == id else { return }
            record.outcome = .cancelled
            record.completedAt = .now
        }
        return Response(status: .ok, headers: [.contentType: HubHeaders.xmlContentType])
    }
}
