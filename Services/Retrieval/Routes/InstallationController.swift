import Authentication
import Domain
import Foundations
import HTTPTypes
import Hummingbird
import ServiceRuntime

/// `/api/installations/{id}`: device registration in the hub's own installation form.
///
/// The server adds the user's tag and sets `userId`. An ID belongs to the user who created it, unless another user
/// presents its current handle, because a handle identifies the device (see
/// ``DeviceChanges/removeOthers(with:keeping:)``). The ID is claimed in the store before the hub is asked
/// (``DeviceLease``).
struct InstallationController: Sendable {
    let users: UserAuthenticator
    let changes: DeviceChanges

    /// Creates or overwrites an installation.
    @Sendable func put(_ request: Request, context: some RequestContext) async throws -> Response {
        let user = try await users.user(of: request, context)
        guard let id = context.deviceID else { throw Self.notFound }
        let wanted = try await request.jsonBody(upTo: InstallationRequest.maxBodyBytes)
            .readJSON(.object { InstallationRequest(&$0, id: id) })
        let handles = DeviceHandle.spellings(wanted.channel.handle)
        let installation = Installation(
            id: id, owner: user, platform: wanted.platform.format, handle: wanted.channel.handle,
            document: wanted.document(id: id, user: user), updatedAt: .now, expiresAt: wanted.expiresAt)
        let claim = DeviceLease.Condition.claimed(by: installation, handles: handles)
        let isFound = try await context.askingHub(registering: installation.handle) {
            try await changes.register(.installation, id, handle: installation.handle, if: claim) { id in
                // The first spelling of an ID is kept.
                var installation = installation
                installation.id = id
                installation.document = wanted.document(id: id, user: user)
                return .saveInstallation(installation, handles: handles)
            }
        }
        guard isFound else { throw Self.notFound }
        return Response(status: .ok)
    }

    /// Returns the caller's installation as it was sent to the hub. It comes from the store, because the hub throttles
    /// reads to a few per minute.
    @Sendable func get(_ request: Request, context: some RequestContext) async throws -> Response {
        let user = try await users.user(of: request, context)
        guard let id = context.deviceID, let found = try await changes.store.installation(id), found.owner == user
        else { throw Self.notFound }
        return .json(.ok, found.document)
    }

    /// Removes an installation of the caller from the hub and the store.
    @Sendable func delete(_ request: Request, context: some RequestContext) async throws -> Response {
        let user = try await users.user(of: request, context)
        guard let id = context.deviceID,
            try await context.askingHub({ try await changes.remove(.installation, id, if: .owned(by: user)) })
        else { throw Self.notFound }
        return Response(status: .noContent)
    }

    private static let notFound = Problem.notFound("There is no such installation.")
}
