import Foundations
import HTTPTypes
import Hummingbird
import Storage

/// `/{hub}` and `/$Resources/NotificationHubs`: the hubs of the namespace.
struct HubController: Sendable {
    private static let maxBodySize = 256 * 1024

    let state: EmulatorState

    /// - Parameter isManaged: whether clients make and remove hubs.
    func addRoutes(to hub: RouterGroup<EmulatorContext>, isManaged: Bool) {
        hub.get(use: read)
        guard isManaged else { return }
        hub.put(use: put)
        hub.delete(use: delete)
    }

    /// - Parameter resources: `/$Resources`, in either spelling.
    func addListRoute(to resources: RouterGroup<EmulatorContext>) {
        resources.get("NotificationHubs", use: list)
    }

    /// Creates (201) without `If-Match`, updates (200) with it.
    @Sendable func put(_ request: Request, context: EmulatorContext) async throws -> Response {
        let call = try state.gate.admitToManage(request, context)
        guard HubDirectory.isName(call.hub) else { throw HubError.badRequest("The hub's name is not valid.") }
        let description = try HubDescription(entry: try await request.bytes(upTo: Self.maxBodySize))
        try await state.injectFaults(.hub, context)
        let isUpdate = request.headers[.ifMatch] != nil
        let hub =
            try await
            (isUpdate ? state.hubs.update(call.hubKey, description) : state.hubs.create(call.hub, description))
        return Self.entry(hub, isUpdate ? .ok : .created, call)
    }

    /// Recorded: an empty feed in place of a hub that does not exist. Official clients interpret it as "no such hub".
    @Sendable func read(_ request: Request, context: EmulatorContext) async throws -> Response {
        let call = try admitToRead(request, context)
        try await state.injectFaults(.hub, context)
        guard let hub = state.hubs.hub(call.hubKey) else {
            return .hub(AtomEntry.publicFeed(), type: AtomEntry.feedContentType)
        }
        return Self.entry(hub, .ok, call)
    }

    /// Recorded: a wrong key gets another text here than elsewhere.
    ///
    /// - Throws: 401 or 403.
    private func admitToRead(_ request: Request, _ context: EmulatorContext) throws(HubError) -> HubCall {
        do throws(HubError) {
            return try state.gate.admitToManage(request, context)
        } catch {
            throw error.detail == TokenFault.invalidSignature.detail ? .missingManageClaim : error
        }
    }

    @Sendable func delete(_ request: Request, context: EmulatorContext) async throws -> Response {
        let call = try state.gate.admitToManage(request, context)
        try await state.injectFaults(.hub, context)
        try await state.hubs.delete(call.hubKey) { registrations in
            for registration in registrations {
                state.noteRegistration(registration, isRegistered: false, hub: call.hubKey)
            }
        }
        try await state.delivery.tables.removeDeliveries(hub: call.hubKey)
        return Response(status: .ok)
    }

    @Sendable func list(_ request: Request, context: EmulatorContext) async throws -> Response {
        let call = try state.gate.admitToManage(request, context)
        try await state.injectFaults(.hub, context)
        let skip = try Self.count(call.query["$skip"]) ?? 0
        let top = try Self.count(call.query["$top"]) ?? .max
        let entries = state.hubs.all.dropFirst(skip).prefix(top).map {
            $0.entry(url: call.location(PercentCoding.encode($0.name)), namespace: call.namespaceName)
        }
        return .hub(
            AtomEntry.feed("NotificationHubs", url: call.requestLocation("$Resources/NotificationHubs"), entries),
            type: AtomEntry.feedContentType)
    }

    /// `GET /`, which the .NET client's `GetNotificationHubsAsync` sends. Recorded: names and addresses, no keys.
    @Sendable func listAtRoot(_ request: Request, context: EmulatorContext) async throws -> Response {
        let call = try state.gate.admitToManage(request, context)
        try await state.injectFaults(.hub, context)
        let hubs = state.hubs.all.map { ($0.name, "\(call.base)/\(PercentCoding.encode($0.name))") }
        return .hub(AtomEntry.publicFeed(hubs), type: AtomEntry.feedContentType)
    }

    private static func count(_ text: String?) throws(HubError) -> Int? {
        guard let text, !text.isEmpty else { return nil }
        guard let number = Int(text), number >= 0 else {
            throw HubError.badRequest("The $skip or $top is not valid.")
        }
        return number
    }

    private static func entry(_ hub: HubSummary, _ status: HTTPResponse.Status, _ call: HubCall) -> Response {
        let entry = hub.entry(url: call.requestLocation(""), namespace: call.namespaceName)
        return .hub(entry.text, status: status, type: AtomEntry.contentType)
    }
}
