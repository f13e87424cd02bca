import HTTPTypes
import Hummingbird
import NIOCore

/// `/{hub}` and `/$Resources/NotificationHubs`: the hubs of the namespace.
struct HubController: Sendable {
    private static let maximumBodySize = 256 * 1024
    private static let maximumNameLength = 260

    let gate: HubGate
    let hubs: HubDirectory
    let devices: DeviceRegistry
    let faults: FaultTable

    func addRoutes(to hub: RouterGroup<EmulatorContext>) {
        hub.put(use: put)
        hub.get(use: read)
        hub.delete(use: delete)
    }

    /// - Parameter resources: `/$Resources`, in either spelling.
    func addListRoute(to resources: RouterGroup<EmulatorContext>) {
        resources.get("NotificationHubs", use: list)
    }

    /// Creates (201) without `If-Match`, updates (200) with it.
    @Sendable func put(_ request: Request, context: EmulatorContext) async throws -> Response {
        let call = try gate.admitToManage(request, context)
        guard !call.hub.isEmpty, call.hub.unicodeScalars.count <= Self.maximumNameLength,
            call.hub.unicodeScalars.allSatisfy(XMLInput.isAllowed)
        else { throw HubError.badRequest("The hub's name is not valid.") }
        let body = Array(try await request.body.collect(upTo: Self.maximumBodySize).readableBytesView)
        let description = try HubDescription(entry: body)
        try await injectFaults(context)
        let isUpdate = request.headers[.ifMatch] != nil
        let hub = try isUpdate ? hubs.update(call.hubKey, description) : hubs.create(call.hub, description)
        return Self.entry(hub, isUpdate ? .ok : .created, call)
    }

    @Sendable func read(_ request: Request, context: EmulatorContext) async throws -> Response {
        let call = try gate.admitToManage(request, context)
        try await injectFaults(context)
        return Self.entry(try hubs.hub(call.hubKey), .ok, call)
    }

    @Sendable func delete(_ request: Request, context: EmulatorContext) async throws -> Response {
        let call = try gate.admitToManage(request, context)
        try await injectFaults(context)
        for registration in try hubs.delete(call.hubKey) {
            devices.noteRegistration(registration, isRegistered: false)
        }
        return Response(status: .ok)
    }

    @Sendable func list(_ request: Request, context: EmulatorContext) async throws -> Response {
        try await list(request, context, path: "$Resources/NotificationHubs")
    }

    /// `GET /`, which the .NET client's `GetNotificationHubsAsync` sends.
    @Sendable func listAtRoot(_ request: Request, context: EmulatorContext) async throws -> Response {
        try await list(request, context, path: "")
    }

    private func list(_ request: Request, _ context: EmulatorContext, path: String) async throws -> Response {
        let call = try gate.admitToManage(request, context)
        try await injectFaults(context)
        let skip = try Self.count(call.query["$skip"]) ?? 0
        let top = try Self.count(call.query["$top"]) ?? .max
        let page = Array(hubs.all.dropFirst(skip).prefix(top))
        return Response(
            status: .ok, headers: [.contentType: AtomDocument.feedContentType],
            body: .init(byteBuffer: ByteBuffer(string: HubDocument.feed(page, path: path, call: call))))
    }

    private func injectFaults(_ context: EmulatorContext) async throws {
        try await faults.inject(faults.effect(on: .hub, platform: nil), context: context)
    }

    private static func count(_ text: String?) throws(HubError) -> Int? {
        guard let text, !text.isEmpty else { return nil }
        guard let number = Int(text), number >= 0 else {
            throw HubError.badRequest("The $skip or $top is not valid.")
        }
        return number
    }

    private static func entry(_ hub: HubSummary, _ status: HTTPResponse.Status, _ call: HubCall) -> Response {
        Response(
            status: status, headers: [.contentType: AtomDocument.entryContentType],
            body: .init(byteBuffer: ByteBuffer(string: HubDocument.entry(hub, call: call))))
    }
}
