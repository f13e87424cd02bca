import Domain
import Foundations
import HTTPTypes
import Hummingbird
import ServiceRuntime

/// `GET /api/recipients/{name}/keys`: the public keys of a recipient's devices, with which a sender encrypts end to
/// end. It requires an API key.
///
/// A recipient that is unknown and one whose devices have no keys are the same: an empty list.
struct RecipientKeysController: Sendable {
    let authentication: SenderAuthentication
    let keys: any DeviceStore

    @Sendable func list(_ request: Request, context: some RequestContext) async throws -> Response {
        _ = try await authentication.sender(of: request, context: context)
        // The router leaves the name percent-encoded.
        guard let name = context.parameters.get("name").flatMap({ PercentCoding.decode($0) }).flatMap({ UserName($0) })
        else { throw Problem.notFound(UserName.requirement) }
        let found = try await keys.encryptionKeys(of: name, limit: Installation.maxPerUser)
        return .json(.ok, Self.json(found))
    }

    /// `{"Keys":[{"DeviceId","Key","CreatedAt"}]}`.
    private static func json(_ keys: [DeviceEncryptionKey]) -> [UInt8] {
        var json = JSONWriter(capacity: 32 + 256 * keys.count)
        json.object { json in
            json.array("Keys") { json in
                for entry in keys {
                    json.object { json in
                        json.member("DeviceId", entry.deviceID)
                        json.member("Key")
                        entry.key.write(to: &json)
                        json.member("CreatedAt", entry.createdAt.description)
                    }
                }
            }
        }
        return json.bytes
    }
}
