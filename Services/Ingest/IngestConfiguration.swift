import Authentication
import Messaging
import SecurePushCore
import ServiceConfiguration
import ServiceRuntime
import Storage

/// What the ingest service is set up with.
struct IngestConfiguration: Sendable {
    var http: HTTPConfiguration
    var storage: StorageConfiguration
    var messaging: MessagingConfiguration
    var payloadKeysFile: String
    var apiKeysFile: String
    var users: UserAuthenticationConfiguration
    var platforms: [Platform]
    var retention: Duration

    static let defaultPort = 8080

    static let keys: [any ConfigurationKeyDescription] =
        HTTPConfiguration.keys(defaultPort: defaultPort) + StorageConfiguration.keys + MessagingConfiguration.keys
        + [ConfigurationKeys.payloadKeysFile, ConfigurationKeys.ingestAPIKeysFile]
        + UserAuthenticationConfiguration.verifyingKeys
        + [ConfigurationKeys.hubPlatforms, ConfigurationKeys.retention]

    /// - Returns: `nil` where an issue was noted.
    init?(_ reader: inout ConfigurationReader) {
        let http = HTTPConfiguration.read(&reader, defaultPort: Self.defaultPort, isAPI: true)
        let storage = StorageConfiguration.read(&reader)
        let messaging = MessagingConfiguration.read(&reader, prefetch: 1, connectionName: "ingest")
        let payloadKeysFile = reader.require(ConfigurationKeys.payloadKeysFile)
        let apiKeysFile = reader.require(ConfigurationKeys.ingestAPIKeysFile)
        let users = UserAuthenticationConfiguration.read(&reader)
        let platforms = reader.readPlatforms()
        let retention = reader.read(ConfigurationKeys.retention)
        guard let http, let storage, let messaging, let payloadKeysFile, let apiKeysFile, let users, let platforms,
            let retention
        else { return nil }
        self.http = http
        self.storage = storage
        self.messaging = messaging
        self.payloadKeysFile = payloadKeysFile
        self.apiKeysFile = apiKeysFile
        self.users = users
        self.platforms = platforms
        self.retention = retention
    }
}
