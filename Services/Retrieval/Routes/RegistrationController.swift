import Authentication
import Domain
import Foundations
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceRuntime

/// `/api/register`: the tutorial's device registration, with its security holes closed.
///
/// The server adds the user's tag. An ID belongs to the user who created it, and a handle identifies the device (see
/// ``DeviceChanges/removeOthers(with:keeping:)``).
struct RegistrationController: Sendable {
    let users: UserAuthenticator
    let changes: DeviceChanges

    /// Creates a registration ID. If a handle is given, other devices with that handle are removed. A body is ignored.
    @Sendable func create(_ request: Request, context: some RequestContext) async throws -> Response {
        let user = try await users.user(of: request, context)
        var parameters = QueryParameters(request.uri.query, known: ["handle"], plusIsBlank: false)
        let handle = parameters.take("handle", DeviceHandle.requirement) {
            DeviceHandle.issue($0) == nil ? $0 : nil
        }
        try parameters.check()
        let id = try await context.askingHub { try await changes.createRegistration(owner: user, handle: handle) }
        AuditTrail.current?.note(id: id)
        return .json(.ok, ByteBuffer(string: JSONText.quoted(id)))
    }

    /// Registers the device with the hub under an ID that the caller owns.
    @Sendable func update(_ request: Request, context: some RequestContext) async throws -> Response {
        let user = try await users.user(of: request, context)
        guard let id = context.deviceID else { throw Self.notFound }
        let wanted = try await request.jsonBody(upTo: RegistrationRequest.maxBodyBytes)
            .readJSON(.object { RegistrationRequest(&$0) })
        let handles = DeviceHandle.spellings(wanted.handle)
        let isFound = try await context.askingHub(registering: wanted.handle) {
            try await changes.register(.registration, id, handle: wanted.handle, if: .owned(by: user)) { id in
                let registration = Registration(
                    id: id, owner: user, platform: wanted.platform, handle: wanted.handle,
                    tags: wanted.tags + [user.tag], updatedAt: .now)
                return .saveRegistration(registration, handles: handles)
            }
        }
        guard isFound else { throw Self.notFound }
        return Response(status: .ok)
    }

    /// Removes a registration of the caller from the hub and the store.
    @Sendable func delete(_ request: Request, context: some RequestContext) async throws -> Response {
        let user = try await users.user(of: request, context)
        guard let id = context.deviceID,
            try await context.askingHub({ try await changes.remove(.registration, id, if: .owned(by: user)) })
        else { throw Self.notFound }
        return Response(status: .ok)
    }

    private static let notFound = Problem.notFound("There is no such registration.")
}

/// The body of `PUT /api/register/{id}`: `{"Platform","Handle","Tags"}`, read and checked.
private struct RegistrationRequest: Sendable {
    let platform: RegistrationPlatform
    let handle: String
    let tags: [String]

    static let maxBodyBytes = 64 * 1024

    init?(_ json: inout JSONObjectReader) {
        let platform = json.required("Platform", .registrationPlatform)
        let handle = json.required("Handle", .handle)
        tags = json.optional("Tags", ClientTags().rule) ?? []
        guard let platform, let handle else { return nil }
        (self.platform, self.handle) = (platform, handle)
    }
}

extension JSONRule<RegistrationPlatform> {
    /// By either of its names.
    fileprivate static var registrationPlatform: JSONRule {
        let names = RegistrationPlatform.allCases.map(\.rawValue).joined(separator: ", ")
        return .string("The value must be one of: \(names).") { text in
            RegistrationPlatform.allCases.first { $0.rawValue == text || $0.platform.rawValue == text }
        }
    }
}
