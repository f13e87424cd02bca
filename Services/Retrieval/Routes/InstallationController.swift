import HTTPTypes
import Hummingbird
import NIOCore
import SecurePushCore
import ServiceRuntime

/// `/api/installations/{id}`: the registration of a device in the hub's own installation form.
///
/// The server adds the tag of the user and sets `userId`; an ID belongs to the user who made it, unless another
/// presents the very handle that it has, because a handle is the device (``DeviceTakeover``). The ID is claimed in the
/// store before the hub is asked (``DeviceLease``).
struct InstallationController: Sendable {
    let caller: CallerAuthentication
    let changes: DeviceChanges
    let takeover: DeviceTakeover

    func addRoutes(to router: some RouterMethods<some RequestContext>) {
        router.put("/api/installations/:id", use: put)
        router.get("/api/installations/:id", use: get)
        router.delete("/api/installations/:id", use: delete)
    }

    /// Creates or overwrites an installation.
    @Sendable func put(_ request: Request, context: some RequestContext) async throws -> Response {
        let user = try await caller.authenticate(request.headers[.authorization], from: context.clientAddress)
        let id = try deviceID(context)
        let wanted = try InstallationRequest(await request.jsonBody(upTo: InstallationRequest.maxBody), id: id)
        let handles = DeviceHandle.spellings(wanted.channel.handle)
        var installation = Installation(
            id: id, owner: user, platform: wanted.platform.format, handle: wanted.channel.handle,
            document: wanted.document(id: id, user: user), updatedAt: .now)
        try await context.askingHub {
            try changes.requireHub()
            let claim = DeviceLease.Condition.claimed(by: installation, handles: handles)
            guard let lease = try await changes.lease(.installation, id, if: claim) else { throw notFound }
            // The first spelling of an ID stays.
            installation.id = lease.id
            installation.document = wanted.document(id: lease.id, user: user)
            let (id, document) = (lease.id, installation.document)
            try await changes.perform(lease, then: .saveInstallation(installation, handles: handles)) {
                let kept = DeviceTakeover.Keeping(kind: .installation, id: id)
                try await takeover.removeOthers(with: wanted.channel.handle, keeping: kept)
            } ask: {
                try await changes.installations.putInstallation(id, document: document)
            }
        }
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
        let id = try deviceID(context)
        let isFound = try await context.askingHub {
            try changes.requireHub()
            return try await changes.remove(.installation, id, if: .owned(by: user))
        }
        guard isFound else { throw notFound }
        return Response(status: .noContent)
    }

    private func own(_ context: some RequestContext, _ user: UserName) async throws -> Installation {
        guard let installation = try await changes.store.installation(deviceID(context)), installation.owner == user
        else {
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
