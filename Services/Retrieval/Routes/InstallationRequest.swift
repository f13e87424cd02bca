import NIOCore
import SecurePushCore
import ServiceRuntime

/// The body of `PUT /api/installations/{id}`: an installation in the hub's own form, read and checked.
///
/// `userId` and what the hub only tells (`lastUpdate`, …) are not kept. Templates and secondary tiles keep their own
/// tags as they are: the pushes of this system go to the device's own channel, which the top level's tags address.
struct InstallationRequest: Sendable, Equatable {
    /// Where the hub sends to.
    enum Channel: Sendable, Equatable {
        case handle(String)
        /// Web Push (RFC 8030, RFC 8291).
        case browser(endpoint: String, p256dh: String, auth: String)

        /// What the device is known by.
        var handle: String {
            switch self {
            case .handle(let handle): handle
            case .browser(let endpoint, _, _): endpoint
            }
        }
    }

    /// A name and a text: a header of a template, or a push variable.
    struct Pair: Sendable, Equatable {
        var name: String
        var text: String
    }

    struct Template: Sendable, Equatable {
        var name: String
        var body = ""
        var headers: [Pair] = []
        var tags: [String] = []
        var expiry: String?
    }

    struct Tile: Sendable, Equatable {
        var name: String
        var pushChannel = ""
        var tags: [String] = []
        var templates: [Template] = []
    }

    var platform = InstallationPlatform.apns
    var channel = Channel.handle("")
    var tags: [String] = []
    var templates: [Template] = []
    var tiles: [Tile] = []
    var expirationTime: String?
    var pushVariables: [Pair] = []

    static let maxBody = 64 * 1024

    /// - Parameter id: the ID in the path; one in the body must be the same.
    /// - Throws: ``Problem``: 400 for what is not JSON, 422 naming every offending member.
    init(_ body: ByteBuffer, id: String) throws {
        self = try body.readJSON { reader in
            var installation = InstallationReader(id: id)
            installation.read(&reader)
            return installation.request
        }
    }

    init() {}
}
