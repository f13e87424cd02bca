import Authentication
import Domain
package import Logging
import Messaging
import ServiceConfiguration
import ServiceRuntime
import Storage

package struct IngestConfiguration: Sendable {
    var http: HTTPConfiguration
    var storage: StorageConfiguration
    var messaging: MessagingConfiguration
    var users: UserAuthenticationConfiguration
    var own: IngestSettings

    /// - Returns: `nil` if the reader noted an issue.
    init?(_ reader: inout ConfigurationReader) {
        let http = HTTPConfiguration.read(&reader, defaultPort: IngestSettings.defaultPort, isAPI: true)
        let storage = StorageConfiguration.read(&reader)
        let messaging = MessagingConfiguration.read(&reader, prefetch: 1, connectionName: "ingest")
        own = IngestSettings(&reader)
        let users = UserAuthenticationConfiguration.read(&reader, issuesTokens: false)
        guard let http, let storage, let messaging, let users else { return nil }
        (self.http, self.storage, self.messaging, self.users) = (http, storage, messaging, users)
    }
}

extension IngestConfiguration: StartDetails {
    package var startDetails: Logger.Metadata {
        [
            "address": "\(http.address)", "store": "\(storage)", "broker": "\(messaging)",
            "platforms": "\(own.platforms.map(\.rawValue).joined(separator: ","))",
        ]
    }
}
