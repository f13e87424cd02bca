import Domain
import Foundations
import HTTPTypes
import Hummingbird

/// The sends of a hub: `/messages`, `/messages/$batch` and `/schedulednotifications`.
struct SendController: Sendable {
    let state: EmulatorState

    func addRoutes(to hub: RouterGroup<EmulatorContext>) {
        hub.post("messages", use: send)
        hub.post("messages/$batch", use: sendBatch)
        hub.post("messages/%24batch", use: sendBatch)
        hub.post("schedulednotifications", use: schedule)
        hub.delete("schedulednotifications/:id", use: cancel)
    }

    /// A plain, direct or debug send.
    @Sendable func send(_ request: Request, context: EmulatorContext) async throws -> Response {
        let (call, send, receipt) = try await process(request, context) { try await SendRequest($0, call: $1) }
        let location = call.location("messages/\(receipt.record.id)", suffix: send.kind == .direct ? "&direct" : "")
        return accepted(location, receipt, document: send.kind == .test ? receipt.document : "")
    }

    /// A direct send to many handles.
    @Sendable func sendBatch(_ request: Request, context: EmulatorContext) async throws -> Response {
        let (call, _, receipt) = try await process(request, context) { try await SendRequest(batch: $0, call: $1) }
        return accepted(call.location("messages/$batch/\(receipt.record.id)", suffix: "&direct"), receipt)
    }

    @Sendable func schedule(_ request: Request, context: EmulatorContext) async throws -> Response {
        let (call, _, receipt) = try await process(request, context) {
            try await SendRequest(scheduling: $0, call: $1)
        }
        return accepted(call.location("schedulednotifications/\(receipt.record.id)"), receipt)
    }

    @Sendable func cancel(_ request: Request, context: EmulatorContext) async throws -> Response {
        let call = try state.gate.admit(request, context, right: .send)
        try await state.injectFaults(.cancel, context)
        let id = context.parameter("id")
        guard let place = try await state.schedules.cancel(id, hubKey: call.hubKey) else {
            throw HubError(.notFound, detail: "There is no scheduled notification of this id.")
        }
        // If it fails, only telemetry lacks the message.
        try? await state.delivery.messages.change(
            id, hub: call.hubKey, state: MessageState.cancelled.rawValue, at: .now)
        state.log.update(place) { record in
            guard record.id == id else { return }
            record.outcome = .cancelled
            record.completedAt = .now
        }
        return .hub()
    }

    private func process(
        _ request: Request, _ context: EmulatorContext, read: (Request, HubCall) async throws -> SendRequest
    ) async throws -> (call: HubCall, send: SendRequest, receipt: SendProcessor.Receipt) {
        let call = try state.gate.admit(request, context, right: .send)
        let send = try await read(request, call)
        return (call, send, try await state.sends.process(send, context: context))
    }

    /// Recorded: 201, an empty body with a content type, and the location. A debug send has a document.
    private func accepted(
        _ location: String, _ receipt: SendProcessor.Receipt, document: String = ""
    ) -> Response {
        var headers: HTTPFields = [.location: location]
        if state.tellsOutcomes { headers[HubHeaders.outcome] = receipt.outcome }
        return .hub(document, status: .created, headers: headers)
    }
}

extension SendProcessor.Receipt {
    /// The value of `SecurePush-Outcome`: the outcomes so far. Nil for a send that waits for its time.
    fileprivate var outcome: String? {
        switch record.outcome {
        case .noTargetFound: record.outcome.rawValue
        case .completed: MessageOutcome(record.outcomesByName)?.text
        case .scheduled, .cancelled, .faulted: nil
        }
    }

    /// The response to a debug send: the outcome at each device, elements in the order that the .NET client reads.
    fileprivate var document: String {
        let successes = record.deliveries.count
        var output =
            "<NotificationOutcome xmlns=\"\(XMLNamespace.connect)\" xmlns:i=\"\(XMLNamespace.instance)\">"
            + "<Success>\(successes)</Success><Failure>\(record.results.count - successes)</Failure><Results>"
        for (result, target) in zip(record.results, targets) {
            let handle = XMLWriter.escape(result.handle)
            let id = XMLWriter.escape(target.registrationID ?? "")
            output +=
                "<RegistrationResult><ApplicationPlatform>\(result.format.rawValue)</ApplicationPlatform>"
                + "<PnsHandle>\(handle)</PnsHandle><RegistrationId>\(id)</RegistrationId>"
                + "<Outcome>\(result.outcome.sentence)</Outcome></RegistrationResult>"
        }
        return output + "</Results></NotificationOutcome>"
    }
}
