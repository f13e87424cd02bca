import Foundations
import Logging
import OutgoingHTTP
import PushServices
import Synchronization

/// Makes the connectors for credentials, and keeps those whose credentials have not changed.
final class PushConnectors: Sendable {
    private struct Key: Hashable {
        var hub: String
        var platform: PushPlatform
    }

    private struct Made {
        var credentials: PlatformCredentials
        var authorities: String?
        var connector: any PushConnector
        var version: Int
    }

    private struct State {
        var made: [Key: Made] = [:]
        var lastVersion = 0
    }

    private let outgoing: OutgoingConfiguration
    private let logger: Logger
    private let state = Mutex(State())

    /// - Parameter outgoing: proxies and trusted authorities of connections to push services.
    init(outgoing: OutgoingConfiguration, logger: Logger) {
        self.outgoing = outgoing
        self.logger = logger
    }

    /// Refuses credentials of push services that this version has no connector for.
    ///
    /// - Throws: ``SetupError`` that names hub and platform.
    static func check(_ credentials: PushCredentials) throws(SetupError) {
        for hub in credentials.hubs.values.sorted(by: { $0.name < $1.name }) {
            for platform in PushPlatform.allCases {
                switch hub.platforms[platform] {
                case nil, .simulated, .webPush: continue
                case .apns, .fcm, .wns:
                    throw SetupError(
                        .invalid,
                        "\(hub.name), \(platform.rawValue): the connector for \(platform.title) is not part of this "
                            + "version; use \"simulated\": true.")
                }
            }
        }
    }

    /// Who pushes under these credentials. Connectors of former credentials are the lanes' to close.
    func pushers(_ credentials: PushCredentials) -> PlatformPushers {
        state.withLock { state in
            var pushers = PlatformPushers()
            var made: [Key: Made] = [:]
            for (hubKey, hub) in credentials.hubs {
                for (platform, content) in hub.platforms {
                    let pusher: PlatformPushers.Pusher
                    let key = Key(hub: hubKey, platform: platform)
                    if content == .simulated {
                        pusher = .simulated
                    } else if let former = state.made[key], former.credentials == content,
                        former.authorities == hub.authorities
                    {
                        made[key] = former
                        pusher = .connector(former.connector, version: former.version)
                    } else if let connector = connector(content, of: hub) {
                        state.lastVersion += 1
                        made[key] = Made(
                            credentials: content, authorities: hub.authorities, connector: connector,
                            version: state.lastVersion)
                        pusher = .connector(connector, version: state.lastVersion)
                    } else {
                        pusher = .missing
                    }
                    for format in platform.formats { pushers[hubKey, format] = pusher }
                }
            }
            state.made = made
            return pushers
        }
    }

    /// A connector; `nil` for credentials that ``check(_:)`` refuses.
    func connector(_ credentials: PlatformCredentials, of hub: HubCredentials) -> (any PushConnector)? {
        guard case .webPush(let webPush) = credentials, let configuration = try? webPush.configuration else {
            return nil
        }
        let client = configuration.client(outgoing: outgoing, authorities: hub.authorities)
        return WebPushConnector(
            configuration: configuration, client: PushHTTPClient(configuration: client, logger: logger))
    }
}
