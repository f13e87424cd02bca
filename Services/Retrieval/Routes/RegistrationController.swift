import HTTPTypes
import Hummingbird
import NIOCore
import SecurePushCore
import ServiceRuntime

/// `/api/register`: the tutorial's registration of a device, without its holes.
///
/// The server adds the tag of the user; an ID belongs to the user who made it; and a handle is the device
/// (``DeviceTakeover``).
struct RegistrationController: Sendable {
    let caller: CallerAuthentication
    let hub: any RegistrationGateway
    let store: any RegistrationStore
    let takeover: DeviceTakeover

    func addRoutes(to router: some RouterMethods<some RequestContext>) {
        router.post("/api/register", use: create)
        router.put("/api/register/:id", use: update)
        router.delete("/api/register/:id", use: delete)
    }

    /// Makes a registration ID; whatever had the handle, if one is given, is removed. A body is not looked at.
    @Sendable func create(_ request: Request, context: some RequestContext) async throws -> Response {
        let user = try await caller.authenticate(request.headers[.authorization], from: context.clientAddress)
        var parameters = QueryParameters(request.uri.query, known: ["handle"], plusIsBlank: false)
        let handle = parameters.take("handle", DeviceHandle.requirement) {
            DeviceHandle.issue($0) == nil ? $0 : nil
        }
        try parameters.check()
        let id = try await context.askingHub {
            if let handle { try await takeover.removeOthers(with: handle, keeping: .nothing) }
            return try await hub.createRegistrationID()
        }
        try await store.save(Registration(id: id, owner: user, updatedAt: .now))
        let headers: HTTPFields = [.contentType: "application/json", .cacheControl: "no-store"]
        let body = ByteBuffer(string: JSONText.quoted(id))
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: body))
    }

    /// Registers the device with the hub under an ID of the caller's.
    @Sendable func update(_ request: Request, context: some RequestContext) async throws -> Response {
        let user = try await caller.authenticate(request.headers[.authorization], from: context.clientAddress)
        var registration = try await own(context, user)
        let wanted = try RegistrationRequest(await request.jsonBody(upTo: RegistrationRequest.longestBody))
        let (id, tags) = (registration.id, wanted.tags + [user.tag])
        try await context.askingHub {
            try await takeover.removeOthers(with: wanted.handle, keeping: .registration(id))
            try await hub.putRegistration(id, platform: wanted.platform, handle: wanted.handle, tags: tags)
        }
        registration.platform = wanted.platform
        registration.handle = wanted.handle
        registration.tags = tags
        registration.updatedAt = .now
        try await store.save(registration)
        return Response(status: .ok)
    }

    /// Removes a registration of the caller's from the hub and here.
    @Sendable func delete(_ request: Request, context: some RequestContext) async throws -> Response {
        let user = try await caller.authenticate(request.headers[.authorization], from: context.clientAddress)
        let registration = try await own(context, user)
        try await context.askingHub { try await hub.deleteRegistration(registration.id) }
        try await store.removeRegistration(registration.id)
        return Response(status: .ok)
    }

    private func own(_ context: some RequestContext, _ user: UserName) async throws -> Registration {
        guard let id = context.deviceID, let registration = try await store.registration(id, owner: user) else {
            throw Problem.notFound("There is no such registration.")
        }
        return registration
    }
}
