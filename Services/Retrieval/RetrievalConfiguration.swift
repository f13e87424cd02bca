import Authentication
package import Logging
import NotificationHubs
import ServiceConfiguration
import ServiceRuntime
import Storage

package struct RetrievalConfiguration: Sendable {
    var http: HTTPConfiguration
    var storage: StorageConfiguration
    var users: UserAuthenticationConfiguration
    /// `nil` if devices register with the hub by other means; `/api/register` and `/api/installations` return 503 then.
    var hub: HubSettings?
    var own: RetrievalSettings

    /// - Returns: `nil` if the reader noted an issue.
    init?(_ reader: inout ConfigurationReader) {
        let http = HTTPConfiguration.read(&reader, defaultPort: RetrievalSettings.defaultPort, isAPI: true)
        let storage = StorageConfiguration.read(&reader)
        own = RetrievalSettings(&reader)
        let users = UserAuthenticationConfiguration.read(&reader, issuesTokens: true)
        hub = HubSettings.read(&reader, isRequired: false)
        guard let http, let storage, let users else { return nil }
        (self.http, self.storage, self.users) = (http, storage, users)
    }
}

extension RetrievalConfiguration: StartDetails {
    package var startDetails: Logger.Metadata {
        var details: Logger.Metadata = ["address": "\(http.address)", "store": "\(storage)"]
        details["hub"] = hub.map { "\($0.hubs.map(\.hubName).joined(separator: ","))" }
        details["endpoint"] = hub.map { "\(Set($0.hubs.map(\.endpoint.url)).sorted().joined(separator: ","))" }
        return details
    }
}
