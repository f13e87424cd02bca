import Authentication
import Domain
import Foundations
import HTTPTypes
import Hummingbird
import ServiceRuntime

/// `PUT /api/devices/{id}/key`: registers the public key with which senders encrypt for an installation of the caller.
///
/// The key goes when the installation is removed, and when another user takes it over, so there is no request to remove
/// it. The hub is not asked.
struct EncryptionKeyController: Sendable {
    let users: UserAuthenticator
    let keys: any DeviceStore
    /// Whether users are told about new keys (`E2E_KEY_NOTICE`).
    let notifies: Bool

    /// Far above a key with the members that platforms add to it.
    static let maxBodyBytes = 4096

    @Sendable func put(_ request: Request, context: some RequestContext) async throws -> Response {
        let user = try await users.user(of: request, context)
        guard let id = context.deviceID else { throw Self.notFound }
        let key = try await request.jsonBody(upTo: Self.maxBodyBytes).readJSON(.publicKey)
        guard try await keys.setEncryptionKey(key, of: id, owner: user, notifies: notifies, now: .now) else {
            throw Self.notFound
        }
        return Response(status: .noContent)
    }

    /// The one answer for an unknown ID and for another user's.
    private static let notFound = Problem.notFound("You have no such installation. Register it before its key.")
}
