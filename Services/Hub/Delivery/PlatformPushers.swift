import PushServices

/// The pusher of each hub and platform, for one version of the credentials. A change of the credentials makes a new
/// value, which ``PushLanes/use(_:)`` applies.
struct PlatformPushers: Sendable {
    enum Pusher: Sendable {
        /// Simulated devices, as in `hub-emulator`.
        case simulated
        /// A push service.
        ///
        /// Each change of the credentials makes a new version. The lanes close a connector of another version.
        case connector(any PushConnector, version: Int)
        /// There are no credentials: each device has the outcome `PnsCredentialError`.
        case missing
    }

    /// Every platform of every hub is simulated.
    static let simulated = PlatformPushers(others: .simulated)

    /// By the hub's name in lower case.
    private var hubs: [String: [NotificationFormat: Pusher]] = [:]
    /// The pusher of hubs and platforms that are not named.
    private let others: Pusher

    init(others: Pusher = .missing) {
        self.others = others
    }

    /// Whether a platform of a hub is simulated.
    func hasSimulated(_ hubKey: String) -> Bool {
        others.isSimulated || hubs[hubKey]?.values.contains(where: \.isSimulated) == true
    }

    /// Whether sends of a format can reach a push service; those to templates reach every platform.
    func isReal(_ hubKey: String, _ format: NotificationFormat) -> Bool {
        if format != .template { return self[hubKey, format].isConnector }
        return hubs[hubKey]?.values.contains(where: \.isConnector) == true
    }

    /// - Parameter hubKey: the hub's name in lower case.
    subscript(hubKey: String, platform: NotificationFormat) -> Pusher {
        get { hubs[hubKey]?[platform] ?? others }
        set { hubs[hubKey, default: [:]][platform] = newValue }
    }

    /// A connector in force: of which hub and platform, and of which version.
    struct ConnectorKey: Sendable, Hashable {
        var hub: String
        var platform: NotificationFormat
        var version: Int
    }

    var connectors: [(key: ConnectorKey, connector: any PushConnector)] {
        hubs.flatMap { hub, platforms in
            platforms.compactMap { platform, pusher in
                guard case .connector(let connector, let version) = pusher else { return nil }
                return (ConnectorKey(hub: hub, platform: platform, version: version), connector)
            }
        }
    }
}
