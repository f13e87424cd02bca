import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import SecurePushCore
import ServiceRuntime

/// `/api/register`: the tutorial's registration of a device, without its holes.
///
/// The server adds the tag of the user; an ID belongs to the user who made it; and a handle is the device: who presents
/// it takes it over, so that a device that changed hands wakes for its new user only.
struct RegistrationController: Sendable {
    let caller: CallerAuthentication
    let hub: any RegistrationGateway
    let store: any RegistrationStore

    func addRoutes(to router: some RouterMethods<some RequestContext>) {
        router.post("/api/register", use: create)
        router.put("/api/register/:id", use: update)
        router.delete("/api/register/:id", use: delete)
    }

    /// Makes a registration ID; older registrations of the handle, if one is given, are removed.
    @Sendable func create(_ request: Request, context: some RequestContext) async throws -> Response {
        let user = try await caller.authenticate(request.headers[.authorization])
        let handle = request.uri.queryParameters["handle"].map(String.init)
        if let handle { try checkHandle(handle) }
        let id = try await asking(hub) { hub in
            if let handle { try await removeRegistrations(of: handle, except: nil) }
            return try await hub.createRegistrationID()
        }
        try await store.save(Registration(id: id, owner: user, updatedAt: .now))
        return json(JSONText.quoted(id))
    }

    /// Registers the device with the hub under an ID of the caller's.
    @Sendable func update(_ request: Request, context: some RequestContext) async throws -> Response {
        let user = try await caller.authenticate(request.headers[.authorization])
        var registration = try await own(context.parameters.get("id"), user)
        let body = try await request.body.collect(upTo: RegistrationRequest.Limit.bodyBytes)
        let wanted = try RegistrationRequest(body)
        let id = registration.id
        let tags = wanted.tags + [user.tag]
        try await asking(hub) { hub in
            try await removeRegistrations(of: wanted.handle, except: id)
            try await hub.putRegistration(id, platform: wanted.platform, handle: wanted.handle, tags: tags)
        }
        registration.platform = wanted.platform
        registration.handle = wanted.handle
        registration.updatedAt = .now
        try await store.save(registration)
        return Response(status: .ok)
    }

    /// Removes a registration of the caller's from the hub and here.
    @Sendable func delete(_ request: Request, context: some RequestContext) async throws -> Response {
        let user = try await caller.authenticate(request.headers[.authorization])
        let registration = try await own(context.parameters.get("id"), user)
        try await asking(hub) { hub in try await hub.deleteRegistration(registration.id) }
        try await store.removeRegistration(registration.id)
        return Response(status: .ok)
    }

    private func own(_ id: String?, _ user: UserName) async throws -> Registration {
        guard let id, let registration = try await store.registration(id, owner: user) else {
            throw Problem.notFound("There is no such registration.")
        }
        return registration
    }

    /// Removes whatever has this handle, in the hub and here; whoever presents the handle has the device.
    private func removeRegistrations(of handle: String, except id: String?) async throws {
        var others = Set(try await hub.registrationIDs(handle: handle))
        others.formUnion(try await store.registrations(handle: handle).map(\.id))
        if let id { others.remove(id) }
        for other in others {
            try await hub.deleteRegistration(other)
            try await store.removeRegistration(other)
        }
    }

    private func checkHandle(_ handle: String) throws {
        if let issue = RegistrationRequest.issue(ofHandle: handle) {
            throw Problem.unprocessable("The handle cannot be used.", errors: [.init(pointer: "", detail: issue)])
        }
    }

    /// Asks the hub, and tells the device what became of it: never a false 200.
    private func asking<Answer: Sendable>(
        _ hub: any RegistrationGateway, _ ask: (any RegistrationGateway) async throws -> Answer
    ) async throws -> Answer {
        do {
            return try await ask(hub)
        } catch let error as PushGatewayError {
            throw error.problem
        }
    }

    private func json(_ text: String) -> Response {
        Response(
            status: .ok, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}
