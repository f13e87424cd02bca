import Domain
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
    private let tokens: any SharedPushTokens
    private let logger: Logger
    private let state = Mutex(State())

    /// - Parameters:
    ///   - outgoing: proxies and trusted authorities of connections to push services.
    ///   - tokens: where the processes share the tokens of APNs.
    init(outgoing: OutgoingConfiguration, tokens: any SharedPushTokens, logger: Logger) {
        self.outgoing = outgoing
        self.tokens = tokens
        self.logger = logger
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

    /// A connector; `nil` for a simulated platform, and for credentials that ``CredentialRules`` refuse.
    func connector(_ credentials: PlatformCredentials, of hub: HubCredentials) -> (any PushConnector)? {

        func client(
            _ settings: (OutgoingConfiguration, String?) -> PushHTTPClientConfiguration
        ) -> PushHTTPClient {
            PushHTTPClient(configuration: settings(outgoing, hub.authorities), logger: logger)
        }
        switch credentials {
        case .simulated: return nil
        case .apns(let apns):
            return (try? apns.configuration).map { configuration in
                let tokens = APNsTokens(configuration, store: tokens, logger: logger)
                return APNsConnector(
                    configuration: configuration, client: client(configuration.client), tokens: tokens)
            }
        case .fcm(let fcm):
            return (try? fcm.configuration).map { FCMConnector(configuration: $0, client: client($0.client)) }
        case .wns(let wns):
            return (try? wns.configuration).map { WNSConnector(configuration: $0, client: client($0.client)) }
        case .webPush(let webPush):
            return (try? webPush.configuration).map { WebPushConnector(configuration: $0, client: client($0.client)) }
        }
    }
}
