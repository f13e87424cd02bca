import Authentication
import Logging
import NotificationHubs
import SecurePushCore
import ServiceConfiguration
import ServiceRuntime
import Storage

/// The settings of the retrieval service.
struct RetrievalConfiguration: Sendable {
    var http: HTTPConfiguration
    var storage: StorageConfiguration
    var payloadKeysFile: String
    var users: UserAuthenticationConfiguration
    /// `nil` if devices register with the hub by other means; `/api/register` and `/api/installations` return 503 then.
    var hub: HubSettings?
    /// `HUB_TELEMETRY`: whether the hub's feedback is read.
    var readsFeedback: Bool
    /// `DEVICE_STALE_AFTER`.
    var deviceStaleAfter: Duration
    /// The public keys of pushes; `nil` if there are none.
    var pushVerificationKeysFile: String?
    /// The web apps that may call the API from a browser; none if it is empty.
    var webOrigins: [WebOrigin]
    /// Further request headers that web apps may send.
    var webHeaders: [String]

    /// `AUDIT_LOG`; `nil` without an audit log.
    var auditLog: String?

    static let keys: [any ConfigurationKeyDescription] =
        HTTPConfiguration.keys(defaultPort: 8081) + [ConfigurationKeys.auditLog]
        + TracingConfiguration.keys + StorageConfiguration.keys
        + [ConfigurationKeys.payloadKeysFile] + UserAuthenticationConfiguration.keys + HubSettings.keys
        + [ConfigurationKeys.hubTelemetry, ConfigurationKeys.deviceStaleAfter]
        + [
            ConfigurationKeys.pushVerificationKeysFile, ConfigurationKeys.retrievalCORSOrigins,
            ConfigurationKeys.retrievalCORSHeaders,
        ]

    /// - Returns: `nil` if the reader noted an issue.
    init?(_ reader: inout ConfigurationReader) {
        let http = HTTPConfiguration.read(&reader, defaultPort: 8081, isAPI: true)
        let storage = StorageConfiguration.read(&reader)
        auditLog = reader.read(ConfigurationKeys.auditLog)
        let payloadKeysFile = reader.require(ConfigurationKeys.payloadKeysFile)
        let users = UserAuthenticationConfiguration.read(&reader)
        if let users, !users.isUsable {
            reader.note(
                ConfigurationKeys.authJWKSFile.name,
                "is not set, and neither is another AUTH_ key: no user could be authenticated")
        }
        users?.checkRefreshing(&reader)
        let readsFeedback = reader.read(ConfigurationKeys.hubTelemetry)
        let deviceStaleAfter = reader.read(ConfigurationKeys.deviceStaleAfter)
        let usesHub = HubSettings.isConfigured(reader)
        let hub = usesHub ? HubSettings.read(&reader) : nil
        // Optional. A service with an issue does not start, so `nil` means "not set" afterwards.
        webOrigins = reader.read(ConfigurationKeys.retrievalCORSOrigins) ?? []
        webHeaders = reader.read(ConfigurationKeys.retrievalCORSHeaders) ?? []
        pushVerificationKeysFile = reader.read(ConfigurationKeys.pushVerificationKeysFile)
        guard let http, let storage, let payloadKeysFile, let users, users.isUsable, !users.cannotRefresh,
            !usesHub || hub != nil, let readsFeedback, let deviceStaleAfter
        else { return nil }
        (self.readsFeedback, self.deviceStaleAfter) = (readsFeedback, deviceStaleAfter)
        (self.http, self.storage, self.payloadKeysFile) = (http, storage, payloadKeysFile)
        (self.users, self.hub) = (users, hub)
    }
}

extension RetrievalConfiguration: StartDetails {
    var startDetails: Logger.Metadata {
        var details: Logger.Metadata = ["address": "\(http.address)", "store": "\(storage)"]
        details["hub"] = hub.map { "\($0.hubs.map(\.hubName).joined(separator: ","))" }
        details["endpoint"] = hub.map { "\(Set($0.hubs.map(\.endpoint.url)).sorted().joined(separator: ","))" }
        return details
    }
}
