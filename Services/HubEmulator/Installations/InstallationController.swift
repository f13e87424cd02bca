import HTTPTypes
import Hummingbird
import NIOCore

/// `/{hub}/installations/{id}`: what apps keep their devices known with, in JSON.
struct InstallationController: Sendable {
    static let maximumBodySize = 64 * 1024

    let gate: HubGate
    let hubs: HubDirectory
    let devices: DeviceRegistry
    let log: RecordLog
    let faults: FaultTable

    func addRoutes(to hub: RouterGroup<EmulatorContext>) {
        hub.put("installations/:id", use: put)
        hub.get("installations/:id", use: read)
        hub.patch("installations/:id", use: patch)
        hub.delete("installations/:id", use: delete)
    }

    /// Recorded: 200 and an empty body.
    @Sendable func put(_ request: Request, context: EmulatorContext) async throws -> Response {
        let call = try gate.admit(request, context, right: .listen)
        let id = try Self.id(context)
        let body = Array(try await request.body.collect(upTo: Self.maximumBodySize).readableBytesView)
        let installation = try HubInstallation(id: id, document: body)
        try await injectFaults(installation.platform, context)
        let change = try hubs.withHub(call.hubKey) { hub throws(HubError) in try hub.put(installation) }
        note(change, request, body: body, call)
        return Self.done(.ok, id, call)
    }

    /// Recorded: the body is JSON, the content type says XML.
    @Sendable func read(_ request: Request, context: EmulatorContext) async throws -> Response {
        let call = try gate.admit(request, context, right: .listen)
        let id = try Self.id(context)
        let found = try hubs.withHub(call.hubKey) { hub throws(HubError) in hub.installations[id]?.installation }
        try await injectFaults(found?.platform, context)
        guard let found else { throw HubError.unknownInstallation }
        return Response(
            status: .ok, headers: [.contentType: HubHeaders.xmlContentType],
            body: .init(byteBuffer: ByteBuffer(string: found.json.json)))
    }

    /// Recorded: 200 and an empty body, where the specification says 204.
    @Sendable func patch(_ request: Request, context: EmulatorContext) async throws -> Response {
        let call = try gate.admit(request, context, right: .listen)
        let id = try Self.id(context)
        let body = Array(try await request.body.collect(upTo: Self.maximumBodySize).readableBytesView)
        let patch = try InstallationPatch(body)
        try await injectFaults(nil, context)
        let change = try hubs.withHub(call.hubKey) { hub throws(HubError) in
            guard let found = hub.installations[id]?.installation else { throw HubError.unknownInstallation }
            return try hub.put(try patch.applied(to: found))
        }
        note(change, request, body: body, call)
        return Self.done(.ok, id, call)
    }

    /// Recorded: 204, also when there was nothing to delete.
    @Sendable func delete(_ request: Request, context: EmulatorContext) async throws -> Response {
        let call = try gate.admit(request, context, right: .listen)
        let id = try Self.id(context)
        try await injectFaults(nil, context)
        let change = try hubs.withHub(call.hubKey) { hub throws(HubError) in try hub.removeInstallation(id) }
        if let change { note(change, request, body: [], call) }
        return Response(status: .noContent)
    }

    private func injectFaults(_ platform: NotificationFormat?, _ context: EmulatorContext) async throws {
        try await faults.inject(faults.effect(on: .installation, platform: platform), context: context)
    }

    /// Tells the simulated devices and the log.
    private func note(_ change: InstallationChange, _ request: Request, body: [UInt8], _ call: HubCall) {
        let stored = change.effect.stored
        let kept = Set(stored.map(\.handle))
        for registration in change.effect.removed {
            devices.noteRegistration(registration, isRegistered: false)
        }
        if let former = change.formerRegistration, !kept.contains(former.handle) {
            devices.noteRegistration(former, isRegistered: false)
        }
        for registration in stored where !registration.isTemplate {
            devices.noteRegistration(registration, isRegistered: true)
        }
        let native = stored.first ?? change.effect.removed.first { !$0.isTemplate }
        var record = RecordedRequest(
            id: change.id, kind: stored.isEmpty ? .unregister : .register, hub: call.hub, format: change.platform,
            tags: native?.tags.joined(separator: ","), headers: request.headers, body: body, receivedAt: .now)
        record.deliveries = native.map { [$0.handle] } ?? []
        log.append(record)
    }

    private static func id(_ context: EmulatorContext) throws(HubError) -> String {
        let id = PercentDecoding.decode(context.parameters.get("id") ?? "")
        guard InstallationText.isID(id) else { throw HubError.badRequest("The installation id is not valid.") }
        return id
    }

    private static func done(_ status: HTTPResponse.Status, _ id: String, _ call: HubCall) -> Response {
        Response(
            status: status,
            headers: [
                .contentType: HubHeaders.xmlContentType,
                .contentLocation: call.location("installations/\(id.pathEscaped)"),
            ])
    }
}
