import Authentication
import Logging
import Messaging
import SecurePushCore
import ServiceConfiguration
import ServiceRuntime
import Storage

/// The settings of the ingest service.
struct IngestConfiguration: Sendable {
    var http: HTTPConfiguration
    var storage: StorageConfiguration
    var messaging: MessagingConfiguration
    var payloadKeysFile: String
    var apiKeysFile: String
    var users: UserAuthenticationConfiguration
    var platforms: [Platform]
    var retention: Duration
    /// `RECIPIENT_E2E_REQUIRED`: whether every payload must be encrypted end to end.
    var requiresEncryption: Bool
    /// `RATE_LIMIT_USER`; `nil` for no limit.
    var userRateLimit: RateLimit?
    /// The operator's page; `nil` without `ADMIN_PORT`.
    var admin: AdminConfiguration?

    /// `AUDIT_LOG`; `nil` without an audit log.
    var auditLog: String?

    static let keys: [any ConfigurationKeyDescription] =
        HTTPConfiguration.keys(defaultPort: 8080) + [ConfigurationKeys.auditLog]
        + TracingConfiguration.keys + StorageConfiguration.keys
        + MessagingConfiguration.keys
        + [ConfigurationKeys.payloadKeysFile, ConfigurationKeys.ingestAPIKeysFile]
        + UserAuthenticationConfiguration.verifyingKeys
        + [ConfigurationKeys.hubPlatforms, ConfigurationKeys.retention, ConfigurationKeys.recipientE2ERequired]
        + [ConfigurationKeys.rateLimitUser]
        + ConfigurationKeys.admin

    /// - Returns: `nil` if the reader noted an issue.
    init?(_ reader: inout ConfigurationReader) {
        let http = HTTPConfiguration.read(&reader, defaultPort: 8080, isAPI: true)
        let storage = StorageConfiguration.read(&reader)
        auditLog = reader.read(ConfigurationKeys.auditLog)
        let messaging = MessagingConfiguration.read(&reader, prefetch: 1, connectionName: "ingest")
        let payloadKeysFile = reader.require(ConfigurationKeys.payloadKeysFile)
        let apiKeysFile = reader.require(ConfigurationKeys.ingestAPIKeysFile)
        let users = UserAuthenticationConfiguration.read(&reader)
        let (platforms, retention) = (reader.readPlatforms(), reader.read(ConfigurationKeys.retention))
        let requiresEncryption = reader.read(ConfigurationKeys.recipientE2ERequired)
        let userRateLimit = reader.read(ConfigurationKeys.rateLimitUser)
        admin = AdminConfiguration.read(&reader, api: http)
        guard let http, let storage, let messaging, let payloadKeysFile, let apiKeysFile, let users, let platforms,
            let retention, let requiresEncryption, let userRateLimit
        else { return nil }
        (self.http, self.storage, self.messaging) = (http, storage, messaging)
        (self.payloadKeysFile, self.apiKeysFile, self.users) = (payloadKeysFile, apiKeysFile, users)
        (self.platforms, self.retention, self.requiresEncryption) = (platforms, retention, requiresEncryption)
        self.userRateLimit = userRateLimit
    }
}

extension IngestConfiguration: StartDetails {
    var startDetails: Logger.Metadata {
        var details: Logger.Metadata = [
            "address": "\(http.address)", "store": "\(storage)", "broker": "\(messaging)",
            "platforms": "\(platforms.map(\.rawValue).joined(separator: ","))",
        ]
        details["operator_page"] = admin.map { "\($0.http.address)" }
        return details
    }
}
