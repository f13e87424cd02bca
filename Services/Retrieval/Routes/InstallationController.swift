import HTTPTypes
import Hummingbird
import NIOCore
import SecurePushCore
import ServiceRuntime

/// `/api/installations/{id}`: the registration of a device in the hub's own installation form.
///
/// The server adds the tag of the user and sets `userId`; an ID belongs to the user who made it, unless another
/// presents the very handle that it has, for a handle is the device (``DeviceTakeover``). The hub is asked first and
/// the store written then: what the store knows is in the hub.
struct InstallationController: Sendable {
    let caller: CallerAuthentication
    let hub: any InstallationGateway
    let store: any InstallationStore
    let takeover: DeviceTakeover

    func addRoutes(to router: some RouterMethods<some RequestContext>) {
        router.put("/api/installations/:id", use: put)
        router.get("/api/installations/:id", use: get)
        router.delete("/api/installations/:id", use: delete)
    }

    /// Creates or overwrites an installation.
    @Sendable func put(_ request: Request, context: some RequestContext) async throws -> Response {
        let user = try await caller.authenticate(request.headers[.authorization], from: context.clientAddress)
        let body = try await request.jsonBody(upTo: InstallationRequest.longestBody)
        let id = try deviceID(context)
        let wanted = try InstallationRequest(body, id: id)
        let installation = Installation(
            id: id, owner: user, platform: wanted.platform.format, handle: wanted.channel.handle,
            document: wanted.document(id: id, user: user), updatedAt: .now)
        if let known = try await store.installation(id), known.owner != user, !known.hasHandle(of: installation) {
            throw notFound
        }
        try await context.askingHub {
            try await takeover.removeOthers(with: installation.handle, keeping: .installation(id))
            try await hub.putInstallation(id, document: installation.document)
        }
        try await store.save(installation)
        return Response(status: .ok)
    }

    /// Gives an installation of the caller's as the hub was given it: from the store, for the hub throttles readings to
    /// a few a minute.
    @Sendable func get(_ request: Request, context: some RequestContext) async throws -> Response {
        let user = try await caller.authenticate(request.headers[.authorization], from: context.clientAddress)
        let installation = try await own(context, user)
        let headers: HTTPFields = [.contentType: "application/json", .cacheControl: "no-store"]
        let body = ByteBuffer(bytes: installation.document)
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: body))
    }

    /// Removes an installation of the caller's from the hub and here.
    @Sendable func delete(_ request: Request, context: some RequestContext) async throws -> Response {
        let user = try await caller.authenticate(request.headers[.authorization], from: context.clientAddress)
        let installation = try await own(context, user)
        try await context.askingHub { try await hub.deleteInstallation(installation.id) }
        try await store.removeInstallation(installation.id)
        return Response(status: .noContent)
    }

    private func own(_ context: some RequestContext, _ user: UserName) async throws -> Installation {
        guard let installation = try await store.installation(deviceID(context)), installation.owner == user else {
            throw notFound
        }
        return installation
    }

    private func deviceID(_ context: some RequestContext) throws -> String {
        guard let id = context.deviceID else { throw notFound }
        return id
    }

    private var notFound: Problem { .notFound("There is no such installation.") }
}

extension Installation {
    /// Whether both are of one device.
    fileprivate func hasHandle(of other: Installation) -> Bool {
        DeviceHandle.spellings(handle).contains { $0.utf8.elementsEqual(other.handle.utf8) }
    }
}
