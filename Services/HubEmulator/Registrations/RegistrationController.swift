import HTTPTypes
import Hummingbird
import NIOCore

/// `/{hub}/registrations` and `/{hub}/registrationids`: what devices and servers register with.
struct RegistrationController: Sendable {
    static let maximumBodySize = 64 * 1024

    let gate: HubGate
    let hubs: HubDirectory
    let devices: DeviceRegistry
    let log: RecordLog
    let faults: FaultTable

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
        let call = try gate.admit(request, context, right: .listen)
        try await injectFaults(platform: nil, context)
        return Response(
            status: .created,
            headers: [
                .contentType: HubHeaders.xmlContentType,
                .location: call.location("registrationids/\(RegistrationID.make())"),
            ])
    }

    @Sendable func create(_ request: Request, context: EmulatorContext) async throws -> Response {
        let call = try gate.admit(request, context, right: .listen)
        return try await store(RegistrationID.make(), request, call, condition: .none, context)
    }

    @Sendable func put(_ request: Request, context: EmulatorContext) async throws -> Response {
        let call = try gate.admit(request, context, right: .listen)
        let id = Self.id(context)
        guard RegistrationID.isValid(id) else { throw HubError.badRequest("The registration id is not valid.") }
        return try await store(id, request, call, condition: EntityTagCondition(request.headers[.ifMatch]), context)
    }

    @Sendable func read(_ request: Request, context: EmulatorContext) async throws -> Response {
        let call = try gate.admit(request, context, right: .listen)
        let id = Self.id(context)
        let found = try hubs.withBook(call.hubKey) { book throws(HubError) in book[id] }
        try await injectFaults(platform: found?.format, context)
        guard let found else { throw HubError.unknownRegistration }
        return Self.entry(found, isStored: false, call)
    }

    @Sendable func delete(_ request: Request, context: EmulatorContext) async throws -> Response {
        let call = try gate.admit(request, context, right: .listen)
        guard let header = request.headers[.ifMatch] else {
            throw HubError.badRequest("The If-Match header is missing.")
        }
        try await injectFaults(platform: nil, context)
        let id = Self.id(context)
        let removed = try hubs.withBook(call.hubKey) { book throws(HubError) in
            try book.remove(id, condition: EntityTagCondition(header))
        }
        devices.noteRegistration(removed, isRegistered: false)
        log.append(record(.unregister, removed, request, body: [], call))
        return Response(status: .ok, headers: [.contentType: HubHeaders.xmlContentType])
    }

    private func store(
        _ id: String, _ request: Request, _ call: HubCall, condition: EntityTagCondition, _ context: EmulatorContext
    ) async throws -> Response {
        let body = Array(try await request.body.collect(upTo: Self.maximumBodySize).readableBytesView)
        let registration = try Registration(id: id, entry: body, receivedAt: .now)
        let effect = faults.effect(
            on: .register, platform: registration.format, tags: { Array(registration.lowercasedTags) })
        if effect.fault != nil {
            var faulted = record(.register, registration, request, body: body, call)
            faulted.note(effect)
            log.append(faulted)
        }
        try await faults.inject(effect, context: context)
        let (former, stored) = try hubs.withBook(call.hubKey) { book throws(HubError) in
            if condition == .none, book.isRetired(id) { throw HubError.registrationGone }
            return (book[id], try book.put(registration, condition: condition))
        }
        if let former { devices.noteRegistration(former, isRegistered: false) }
        devices.noteRegistration(stored, isRegistered: true)
        log.append(record(.register, stored, request, body: body, call))
        return Self.entry(stored, isStored: true, call)
    }

    func injectFaults(platform: NotificationFormat?, _ context: EmulatorContext) async throws {
        try await faults.inject(faults.effect(on: .register, platform: platform), context: context)
    }

    private func record(
        _ kind: RecordedRequest.Kind, _ registration: Registration, _ request: Request, body: [UInt8], _ call: HubCall
    ) -> RecordedRequest {
        var record = RecordedRequest(
            id: registration.id, kind: kind, hub: call.hub, format: registration.format,
            tags: registration.tags.joined(separator: ","), headers: request.headers, body: body, receivedAt: .now)
        record.deliveries = [registration.handle]
        return record
    }

    private static func id(_ context: EmulatorContext) -> String {
        PercentDecoding.decode(context.parameters.get("id") ?? "")
    }

    private static func entry(_ registration: Registration, isStored: Bool, _ call: HubCall) -> Response {
        let document = AtomDocument.entry(registration, isStored: isStored, call: call)
        return Response(
            status: .ok,
            headers: [
                .contentType: AtomDocument.entryContentType, .eTag: registration.entityTag,
                .contentLocation: call.location("registrations/\(registration.id)"),
            ],
            body: .init(byteBuffer: ByteBuffer(string: document)))
    }
}
