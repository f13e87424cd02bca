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
    let changes: DeviceChanges
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
            try changes.requireHub()
            if let handle { try await takeover.removeOthers(with: handle, keeping: nil) }
            let id = try await changes.registrations.createRegistrationID()
            guard let lease = try await changes.lease(.registration, id, if: .absent) else {
                throw PushGatewayError(.unavailable, "the hub gave a registration ID that is in use")
            }
            let registration = Registration(id: id, owner: user, handle: handle, updatedAt: .now)
            let handles = handle.map(DeviceHandle.spellings) ?? []
            try await changes.perform(lease, then: .saveRegistration(registration, handles: handles)) {}
            return id
        }
        let headers: HTTPFields = [.contentType: "application/json", .cacheControl: "no-store"]
        let body = ByteBuffer(string: JSONText.quoted(id))
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: body))
    }

    /// Registers the device with the hub under an ID of the caller's.
    @Sendable func update(_ request: Request, context: some RequestContext) async throws -> Response {
        let user = try await caller.authenticate(request.headers[.authorization], from: context.clientAddress)
        guard let id = context.deviceID else { throw notFound }
        let wanted = try RegistrationRequest(await request.jsonBody(upTo: RegistrationRequest.maxBody))
        let (tags, handles) = (wanted.tags + [user.tag], DeviceHandle.spellings(wanted.handle))
        try await context.askingHub {
            try changes.requireHub()
            guard let lease = try await changes.lease(.registration, id, if: .owned(by: user)) else { throw notFound }
            let registration = Registration(
                id: lease.id, owner: user, platform: wanted.platform, handle: wanted.handle, tags: tags,
                updatedAt: .now)
            try await changes.perform(lease, then: .saveRegistration(registration, handles: handles)) {
                let kept = DeviceTakeover.Keeping(kind: .registration, id: lease.id)
                try await takeover.removeOthers(with: wanted.handle, keeping: kept)
            } ask: {
                try await changes.registrations.putRegistration(
                    lease.id, platform: wanted.platform, handle: wanted.handle, tags: tags)
            }
            try await takeover.keepNewestRegistration(of: wanted.handle)
        }
        return Response(status: .ok)
    }

    /// Removes a registration of the caller's from the hub and here.
    @Sendable func delete(_ request: Request, context: some RequestContext) async throws -> Response {
        let user = try await caller.authenticate(request.headers[.authorization], from: context.clientAddress)
        guard let id = context.deviceID else { throw notFound }
        let isFound = try await context.askingHub {
            try changes.requireHub()
            return try await changes.remove(.registration, id, if: .owned(by: user))
        }
        guard isFound else { throw notFound }
        return Response(status: .ok)
    }

    private var notFound: Problem { .notFound("There is no such registration.") }
}
