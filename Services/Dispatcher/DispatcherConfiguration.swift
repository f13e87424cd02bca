import Messaging
import NotificationHubs
import SecurePushCore
import ServiceConfiguration
import ServiceRuntime
import Storage

/// What a dispatcher is set up with.
struct DispatcherConfiguration: Sendable {
    var http: HTTPConfiguration
    var storage: StorageConfiguration
    var messaging: MessagingConfiguration
    var hub: NotificationHubConfiguration
    var policy: DispatchPolicy
    /// Requests to the hub in flight.
    var concurrency: Int
    /// Deliveries held at once.
    var prefetch: Int
    /// Whether platforms without a device of the recipient's are skipped.
    var registeredOnly: Bool

    static let defaultPort = 8082

    static let keys: [any ConfigurationKeyDescription] =
        HTTPConfiguration.keys(defaultPort: defaultPort) + StorageConfiguration.keys + MessagingConfiguration.keys
        + NotificationHubConfiguration.keys
        + [
            ConfigurationKeys.hubPlatforms, ConfigurationKeys.dispatchPrefetch, ConfigurationKeys.dispatchConcurrency,
            ConfigurationKeys.dispatchMaxAttempts, ConfigurationKeys.dispatchRegisteredOnly,
        ]

    /// - Returns: `nil` where an issue was noted.
    init?(_ reader: inout ConfigurationReader) {
        let http = HTTPConfiguration.read(&reader, defaultPort: Self.defaultPort, isAPI: false)
        let storage = StorageConfiguration.read(&reader)
        let prefetch = reader.read(ConfigurationKeys.dispatchPrefetch)
        let messaging = MessagingConfiguration.read(&reader, prefetch: prefetch ?? 1, connectionName: "dispatcher")
        let hub = NotificationHubConfiguration.read(&reader)
        let platforms = reader.readPlatforms()
        let delays = reader.read(ConfigurationKeys.retryDelays)
        let maximumAttempts = reader.read(ConfigurationKeys.dispatchMaxAttempts)
        let concurrency = reader.read(ConfigurationKeys.dispatchConcurrency)
        let registeredOnly = reader.read(ConfigurationKeys.dispatchRegisteredOnly)
        guard let http, let storage, let prefetch, let messaging, let hub, let platforms, let delays,
            let maximumAttempts, let concurrency, let registeredOnly
        else { return nil }
        self.http = http
        self.storage = storage
        self.messaging = messaging
        self.hub = hub
        self.concurrency = concurrency
        self.prefetch = prefetch
        self.registeredOnly = registeredOnly
        policy = DispatchPolicy(
            platforms: platforms, maximumAttempts: maximumAttempts, retryDelays: RetryDelays(delays))
    }
}

extension DispatcherConfiguration {
    /// A lane for each platform, which share what is set for all.
    var lanes: LaneSettings {
        LaneSettings(
            platforms: policy.platforms, concurrency: concurrency, prefetch: prefetch, hub: hub.hubName,
            endpoint: hub.endpoint.url)
    }
}
