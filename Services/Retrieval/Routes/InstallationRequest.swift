import Domain
import Foundations

/// The body of `PUT /api/installations/{id}`: an installation in the hub's own form, read and checked.
///
/// `userId` and the members that the hub only returns (`lastUpdate`, …) are not kept. Templates and secondary tiles
/// keep their own tags: this service pushes to the device's own channel, which the tags at the top level address.
struct InstallationRequest: Sendable, Equatable {
    /// The address that the hub sends to.
    enum Channel: Sendable, Equatable {
        case handle(String)
        /// Web Push (RFC 8030, RFC 8291).
        case browser(endpoint: String, p256dh: String, auth: String)

        /// The handle that identifies the device.
        var handle: String {
            switch self {
            case .handle(let handle): handle
            case .browser(let endpoint, _, _): endpoint
            }
        }
    }

    /// A header of a template, or a push variable.
    struct Pair: Sendable, Equatable {
        var name: String
        var text: String
    }

    struct Template: Sendable, Equatable {
        var name: String
        var body: String
        var headers: [Pair]
        var tags: [String]
        var expiry: String?
    }

    struct Tile: Sendable, Equatable {
        var name: String
        var pushChannel: String
        var tags: [String]
        var templates: [Template]
    }

    var platform: InstallationPlatform
    var channel: Channel
    var tags: [String]
    var templates: [Template]
    var tiles: [Tile]
    var expirationTime: String?
    var pushVariables: [Pair]

    static let maxBodyBytes = 64 * 1024

    /// ``expirationTime``, which was checked when it was read; a time without a zone is UTC.
    var expiresAt: Timestamp? {
        expirationTime.flatMap { Timestamp(rfc3339: $0) ?? Timestamp(rfc3339: $0 + "Z") }
    }
}

/// A platform as the hub's installations name it, which is not the name of its format for sends.
///
/// The hub's installations support all of its platforms except Baidu.
enum InstallationPlatform: String, Sendable, CaseIterable {
    case adm, apns, browser, fcmv1, gcm, mpns, wns, xiaomi

    /// The hub's format for pushes to such a device.
    var format: Platform {
        switch self {
        case .apns: .apple
        case .wns: .windows
        case .mpns: Platform(rawValue: "windowsphone")
        case .fcmv1: .fcmv1
        case .gcm: .gcm
        case .adm, .browser, .xiaomi: Platform(rawValue: rawValue)
        }
    }
}

extension InstallationRequest {
    /// The installation in the hub's own form, with the user's tag, and the user as `userId`.
    ///
    /// Written from the checked values, so that nothing unchecked reaches the hub. Empty lists and objects are omitted.
    func document(id: String, user: UserName) -> [UInt8] {
        var json = JSONWriter(capacity: 512)
        json.object { json in
            json.member("installationId", id)
            json.member("userId", user.encodedName)
            json.member("platform", platform.rawValue)
            switch channel {
            case .handle(let handle): json.member("pushChannel", handle)
            case .browser(let endpoint, let p256dh, let auth):
                json.object("pushChannel") { json in
                    json.member("endpoint", endpoint)
                    json.member("p256dh", p256dh)
                    json.member("auth", auth)
                }
            }
            json.member("tags", tags + [user.tag])
            json.templates(templates)
            if !tiles.isEmpty {
                json.object("secondaryTiles") { json in
                    for tile in tiles {
                        json.object(tile.name) { json in
                            json.member("pushChannel", tile.pushChannel)
                            json.tags(tile.tags)
                            json.templates(tile.templates)
                        }
                    }
                }
            }
            if let expirationTime { json.member("expirationTime", expirationTime) }
            json.pairs("pushVariables", pushVariables)
        }
        return json.bytes
    }
}

extension UserName {
    /// The name as it is encoded in ``tag``. The hub accepts it as a user ID, of which it makes the tag `$UserId:{ID}`.
    fileprivate var encodedName: String { String(tag.dropFirst("username:".count)) }
}

extension JSONWriter {
    fileprivate mutating func tags(_ tags: [String]) {
        if !tags.isEmpty { member("tags", tags) }
    }

    fileprivate mutating func pairs(_ name: String, _ pairs: [InstallationRequest.Pair]) {
        if pairs.isEmpty { return }
        object(name) { json in
            for pair in pairs { json.member(pair.name, pair.text) }
        }
    }

    fileprivate mutating func templates(_ templates: [InstallationRequest.Template]) {
        if templates.isEmpty { return }
        object("templates") { json in
            for template in templates {
                json.object(template.name) { json in
                    json.member("body", template.body)
                    json.pairs("headers", template.headers)
                    json.tags(template.tags)
                    if let expiry = template.expiry { json.member("expiry", expiry) }
                }
            }
        }
    }
}
