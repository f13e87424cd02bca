import HTTPTypes
import Hummingbird

/// `/{hub}/jobs`: bulk export and import of registrations, which need a container of Azure Storage.
struct HubJobController: Sendable {
    let state: EmulatorState

    func addRoutes(to hub: RouterGroup<EmulatorContext>) {
        hub.post("jobs", use: refuse)
        hub.get("jobs", use: refuse)
        hub.get("jobs/:id", use: refuse)
    }

    @Sendable func refuse(_ request: Request, context: EmulatorContext) async throws -> Response {
        _ = try state.gate.admit(request, context, right: .manage)
        try await state.injectFaults(.hub, context)
        throw HubError(.notImplemented, detail: "This hub has no jobs.")
    }
}
