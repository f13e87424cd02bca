import Foundations
import HTTPTypes
import Hummingbird

/// `/{hub}/installations/{id}`: the devices of apps, in JSON.
struct InstallationController: Sendable {
    let state: EmulatorState

    func addRoutes(to hub: RouterGroup<EmulatorContext>) {
        hub.put("installations/:id", use: put)
        hub.get("installations/:id", use: read)
        hub.patch("installations/:id", use: patch)
        hub.delete("installations/:id", use: delete)
    }

    /// Recorded: 200 and an empty body.
    @Sendable func put(_ request: Request, context: EmulatorContext) async throws -> Response {
        let (call, id) = try admit(request, context)
        let body = try await request.bytes()
        let installation = try HubInstallation(id: id, document: body)
        try state.lanes.checkAddresses(of: installation, hub: call.hubKey)
        try await state.injectFaults(.installation, platform: installation.platform, context)
        try await state.hubs.use(call.hubKey)
        let change = try await state.hubs.changeInstallation(id, hub: call.hubKey) { _ in installation }
        note(change, request, body: body, call)
        return .hub()
    }

    /// Recorded: the body is JSON, and the content type is that of XML.
    @Sendable func read(_ request: Request, context: EmulatorContext) async throws -> Response {
        let (call, id) = try admit(request, context)
        try await state.hubs.use(call.hubKey)
        let found = try await state.hubs.installation(id, hub: call.hubKey)
        try await state.injectFaults(.installation, platform: found?.platform, context)
        guard let found else { throw HubError.unknownInstallation }
        return .hub(found.json.json)
    }

    /// Recorded: 200 and an empty body, where the specification says 204.
    @Sendable func patch(_ request: Request, context: EmulatorContext) async throws -> Response {
        let (call, id) = try admit(request, context)
        let body = try await request.bytes()
        let patch = try InstallationPatch(body)
        try await state.injectFaults(.installation, context)
        try await state.hubs.use(call.hubKey)
        let change = try await state.hubs.changeInstallation(id, hub: call.hubKey) { found throws(HubError) in
            guard let found else { throw HubError.unknownInstallation }
            let patched = try patch.applied(to: found)
            try state.lanes.checkAddresses(of: patched, hub: call.hubKey)
            return patched
        }
        note(change, request, body: body, call)
        return .hub()
    }

    /// Recorded: 204 with a content type, also for an unknown installation.
    @Sendable func delete(_ request: Request, context: EmulatorContext) async throws -> Response {
        let (call, id) = try admit(request, context)
        try await state.injectFaults(.installation, context)
        try await state.hubs.use(call.hubKey)
        let change = try await state.hubs.removeInstallation(id, hub: call.hubKey)
        if let change { note(change, request, body: [], call) }
        return .hub(status: .noContent)
    }

    private func admit(_ request: Request, _ context: EmulatorContext) throws(HubError) -> (call: HubCall, id: String) {
        let call = try state.gate.admit(request, context, right: .listen)
        let id = context.parameter("id")
        guard InstallationText.isID(id) else { throw HubError.badRequest("The installation id is not valid.") }
        return (call, id)
    }

    /// Updates the simulated devices and the log.
    private func note(_ change: InstallationChange, _ request: Request, body: [UInt8], _ call: HubCall) {
        let stored = change.stored
        let kept = Set(stored.map(\.handle))
        for registration in change.removed where kept.contains(registration.handle) {
            state.noteRegistration(registration, isRegistered: false, hub: call.hubKey)
        }
        for registration in change.former where !kept.contains(registration.handle) {
            state.noteRegistration(registration, isRegistered: false, hub: call.hubKey)
        }
        for registration in stored where !registration.isTemplate {
            state.noteRegistration(registration, isRegistered: true, hub: call.hubKey)
        }
        let native = stored.first ?? change.removed.first { !$0.isTemplate }
        state.log.append(
            .registration(
                stored.isEmpty ? .unregister : .register, change.id, change.platform, native, request, body: body, call)
        )
    }
}
