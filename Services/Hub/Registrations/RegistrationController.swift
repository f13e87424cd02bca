import Foundations
import HTTPTypes
import Hummingbird
import Storage

/// `/{hub}/registrations` and `/{hub}/registrationids`: the registrations of devices.
struct RegistrationController: Sendable {
    /// The hub's page size, which clients can only reduce.
    private static let maxPageSize = 100

    let state: EmulatorState

    func addRoutes(to hub: RouterGroup<EmulatorContext>) {
        hub.post("registrationids", use: makeID)
        hub.post("registrations", use: create)
        hub.put("registrations/:id", use: put)
        hub.get("registrations/:id", use: read)
        hub.delete("registrations/:id", use: delete)
        hub.get("registrations", use: list)
        hub.get("tags/:tag/registrations", use: listByTag)
    }

    @Sendable func makeID(_ request: Request, context: EmulatorContext) async throws -> Response {
        let call = try state.gate.admit(request, context, right: .listen)
        try await state.injectFaults(.register, context)
        let location = call.location("registrationids/\(RegistrationID.make())")
        return Response(status: .created, headers: [.location: location])
    }

    @Sendable func create(_ request: Request, context: EmulatorContext) async throws -> Response {
        let call = try state.gate.admit(request, context, right: .listen)
        let id = RegistrationID.make()
        var response = try await store(id, request, call, condition: .none, context)
        // Recorded: only here.
        response.headers[.contentLocation] = call.location("registrations/\(id)")
        return response
    }

    @Sendable func put(_ request: Request, context: EmulatorContext) async throws -> Response {
        let call = try state.gate.admit(request, context, right: .listen)
        let id = context.parameter("id")
        guard RegistrationID.isValid(id) else { throw HubError.badRequest("The registration id is not valid.") }
        return try await store(id, request, call, condition: HubCondition(ifMatch: request.headers[.ifMatch]), context)
    }

    @Sendable func read(_ request: Request, context: EmulatorContext) async throws -> Response {
        let call = try state.gate.admit(request, context, right: .listen)
        let id = context.parameter("id")
        try await state.hubs.use(call.hubKey)
        let found = try await state.hubs.registration(id, hub: call.hubKey)
        try await state.injectFaults(.register, platform: found?.format, context)
        guard let found else { throw HubError.unknownRegistration }
        return Self.response(found, isStored: false, call)
    }

    @Sendable func delete(_ request: Request, context: EmulatorContext) async throws -> Response {
        let call = try state.gate.admit(request, context, right: .listen)
        guard let header = request.headers[.ifMatch] else {
            throw HubError.badRequest("The If-Match header is missing.")
        }
        try await state.injectFaults(.register, context)
        let id = context.parameter("id")
        try await state.hubs.use(call.hubKey)
        guard RegistrationID.isValid(id) else { throw HubError.unknownRegistration }
        let change = try await state.hubs.tables.removeRegistration(
            id, hub: call.hubKey, condition: HubCondition(ifMatch: header))
        guard let removed = try change.get().former else { return Response(status: .ok) }
        state.noteRegistration(removed, isRegistered: false, hub: call.hubKey)
        state.log.append(.registration(.unregister, removed.id, removed.format, removed, request, call))
        return Response(status: .ok)
    }

    private func store(
        _ id: String, _ request: Request, _ call: HubCall, condition: HubCondition, _ context: EmulatorContext
    ) async throws -> Response {
        let body = try await request.bytes()
        let registration = try RegistrationEntry(id: id, entry: body, receivedAt: .now)
        try state.lanes.checkAddresses(of: [registration], hub: call.hubKey)
        let format = registration.format
        let effect = state.faults.effect(
            on: .register, platform: format, tags: { Array(registration.lowercasedTags) })
        if effect.fault != nil {
            var faulted = RecordedRequest.registration(.register, id, format, registration, request, body: body, call)
            faulted.note(effect)
            state.log.append(faulted)
        }
        try await effect.inject(context)
        try await state.hubs.use(call.hubKey)
        let change = try await state.hubs.tables.put(registration.stored, hub: call.hubKey, condition: condition)
        let (stored, former) = try change.get()
        guard let stored else { throw HubError.internalError }
        if let former { state.noteRegistration(former, isRegistered: false, hub: call.hubKey) }
        state.noteRegistration(stored, isRegistered: true, hub: call.hubKey)
        state.log.append(.registration(.register, id, format, stored, request, body: body, call))
        return Self.response(stored, isStored: true, call)
    }

    private static func response(_ registration: RegistrationEntry, isStored: Bool, _ call: HubCall) -> Response {
        .hub(
            registration.entry(isStored: isStored, call: call).text, type: AtomEntry.contentType,
            headers: [.eTag: registration.entityTag])
    }

    // MARK: Lists

    /// All registrations, which needs Manage, or those of one handle, for which Listen is enough.
    @Sendable func list(_ request: Request, context: EmulatorContext) async throws -> Response {
        let text = HubQuery(request.uri.query)["$filter"].flatMap { $0.isEmpty ? nil : $0 }
        let call = try state.gate.admit(request, context, right: text == nil ? .manage : .listen)
        let filter = try text.map { text throws(HubError) in try RegistrationFilter(text) }
        try await state.injectFaults(.register, context)
        let (limit, after) = try Self.range(call)
        try await state.hubs.use(call.hubKey)
        let (page, next) =
            if let filter { try await state.hubs.list(call.hubKey, filter, after: after, limit: limit) } else {
                try await state.hubs.list(call.hubKey, after: after, limit: limit)
            }
        return Self.feed(page, next: next, path: "registrations", call)
    }

    @Sendable func listByTag(_ request: Request, context: EmulatorContext) async throws -> Response {
        let call = try state.gate.admit(request, context, right: .manage)
        try await state.injectFaults(.register, context)
        let written = context.parameters.get("tag") ?? ""
        let (limit, after) = try Self.range(call)
        try await state.hubs.use(call.hubKey)
        let tag = PercentCoding.decodeRepeatedly(written)
        let (page, next) = try await state.hubs.list(call.hubKey, tag: tag, after: after, limit: limit)
        return Self.feed(page, next: next, path: "tags/\(written)/registrations", call)
    }

    private static func range(_ call: HubCall) throws(HubError) -> (limit: Int, after: Int) {
        var limit = maxPageSize
        if let top = call.query["$top"] {
            guard let number = Int(top), number > 0 else { throw HubError.badRequest("The $top is not valid.") }
            limit = min(number, maxPageSize)
        }
        guard let token = call.query["continuationtoken"], !token.isEmpty else { return (limit, 0) }
        return (limit, try ContinuationToken.read(token))
    }

    private static func feed(_ page: [RegistrationEntry], next: Int64?, path: String, _ call: HubCall) -> Response {
        // Recorded: entries below the list's own path.
        let entries = page.map { $0.entry(isStored: false, path: path, call: call) }
        let token = next.map { ContinuationToken.make(after: Int($0)) }
        let document = AtomEntry.feed(
            "Registrations", url: call.requestLocation(path), next: token.map { call.nextLocation(path, token: $0) },
            entries)
        var headers = HTTPFields()
        headers[HubHeaders.continuationToken] = token
        return .hub(document, type: AtomEntry.feedContentType, headers: headers)
    }
}

extension RecordedRequest {
    /// The record of a change of a registration or an installation.
    static func registration(
        _ kind: Kind, _ id: String, _ platform: NotificationFormat, _ registration: RegistrationEntry?,
        _ request: Request,
        body: [UInt8] = [], _ call: HubCall
    ) -> RecordedRequest {
        var record = RecordedRequest(
            id: id, kind: kind, hub: call.hub, format: platform, tags: registration?.tags.joined(separator: ","),
            headers: request.headers, body: body, receivedAt: .now)
        if let registration {
            record.add(DeliveryResult(handle: registration.handle, format: platform, outcome: .success))
        }
        return record
    }
}
