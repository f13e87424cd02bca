import Domain
package import Logging
import Messaging
import NotificationHubs
import ServiceConfiguration
import ServiceRuntime
import Storage

package struct DispatcherConfiguration: Sendable {
    var http: HTTPConfiguration
    var storage: StorageConfiguration
    var messaging: MessagingConfiguration
    var hub: HubSettings
    var own: DispatcherSettings

    /// - Returns: `nil` if the reader noted an issue.
    init?(_ reader: inout ConfigurationReader) {
        let http = HTTPConfiguration.read(&reader, defaultPort: DispatcherSettings.defaultPort, isAPI: false)
        let storage = StorageConfiguration.read(&reader)
        own = DispatcherSettings(&reader)
        let messaging = MessagingConfiguration.read(
            &reader, prefetch: own.prefetch, connectionName: "dispatcher")
        let hub = HubSettings.read(&reader)
        guard let http, let storage, let messaging, let hub else { return nil }
        (self.http, self.storage, self.messaging, self.hub) = (http, storage, messaging, hub)
        self.storage.withdrawals = own.withdrawals
        self.messaging.topology.publishesNew = false
    }
}

extension DispatcherConfiguration {
    var policy: DispatchPolicy {
        DispatchPolicy(
            platforms: own.platforms, maxAttempts: own.maxAttempts, retryDelays: own.retryDelays,
            withdrawals: own.withdrawals)
    }

    /// One lane per platform and hub; the lanes of a hub share its limit.
    var lanes: LaneSettings {
        LaneSettings(
            platforms: own.platforms, concurrency: own.concurrency, prefetch: own.prefetch,
            hub: hub.hubs.first?.hubName ?? "", endpoint: hub.hubs.first?.endpoint.url ?? "")
    }
}

extension DispatcherConfiguration: StartDetails {
    package var startDetails: Logger.Metadata {
        [
            "address": "\(http.address)", "store": "\(storage)", "broker": "\(messaging)",
            "hub": "\(hub.hubs.map(\.hubName).joined(separator: ","))",
            "endpoint": "\(Set(hub.hubs.map(\.endpoint.url)).sorted().joined(separator: ","))",
            "platforms": "\(own.platforms.map(\.rawValue).joined(separator: ","))",
        ]
    }
}
