import Authentication
import NotificationHubs
import SecurePushCore
import ServiceConfiguration
import ServiceRuntime
import Storage

/// What the retrieval service is set up with.
struct RetrievalConfiguration: Sendable {
    var http: HTTPConfiguration
    var storage: StorageConfiguration
    var payloadKeysFile: String
    var users: UserAuthenticationConfiguration
    /// `nil` where devices register with the hub by other means; `/api/register` and `/api/installations` are 503
    /// then.
    var hub: NotificationHubConfiguration?

    static let defaultPort = 8081

    static let keys: [any ConfigurationKeyDescription] =
        HTTPConfiguration.keys(defaultPort: defaultPort) + StorageConfiguration.keys
        + [ConfigurationKeys.payloadKeysFile] + UserAuthenticationConfiguration.keys
        + NotificationHubConfiguration.keys

    /// - Returns: `nil` where an issue was noted.
    init?(_ reader: inout ConfigurationReader) {
        let http = HTTPConfiguration.read(&reader, defaultPort: Self.defaultPort, isAPI: true)
        let storage = StorageConfiguration.read(&reader)
        let payloadKeysFile = reader.require(ConfigurationKeys.payloadKeysFile)
        let users = UserAuthenticationConfiguration.read(&reader)
        if let users, !users.isUsable {
            reader.note(
                ConfigurationKeys.authJWKSFile.name,
                "is not set, and neither is another AUTH_ key: no user could be authenticated")
        }
        let usesHub = NotificationHubConfiguration.isConfigured(reader)
        let hub = usesHub ? NotificationHubConfiguration.read(&reader) : nil
        guard let http, let storage, let payloadKeysFile, let users, users.isUsable, !usesHub || hub != nil
        else { return nil }
        self.http = http
        self.storage = storage
        self.payloadKeysFile = payloadKeysFile
        self.users = users
        self.hub = hub
    }
}
