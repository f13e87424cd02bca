package import Domain

/// The settings that only ingest reads. Those of its parts (HTTP, storage, broker, users) are read beside these parts.
///
/// It is here, and not in the service, so that `securepush config show` reads the settings as the service does.
package struct IngestSettings: Sendable {
    /// Of `HTTP_PORT`.
    package static let defaultPort = 8080

    package let payloadKeysFile: String
    package let apiKeysFile: String
    package let platforms: [Platform]
    package let retention: Duration
    /// Whether every payload must be encrypted end to end.
    package let requiresEncryption: Bool
    /// `nil` for no limit.
    package let userRateLimit: RateLimit?
    package let auditLog: String?
    package let admin: AdminSettings

    package init(_ reader: inout ConfigurationReader) {
        auditLog = reader[\.auditLog]
        payloadKeysFile = reader.require(\.payloadKeysFile) ?? ""
        apiKeysFile = reader.require(\.ingestAPIKeysFile) ?? ""
        platforms = reader.platforms()
        retention = reader[\.retention]
        requiresEncryption = reader[\.recipientE2ERequired]
        userRateLimit = reader[\.rateLimitUser]
        admin = AdminSettings(&reader)
    }
}

/// The settings of the operator's page.
package struct AdminSettings: Sendable {
    /// `nil` for no page.
    package let port: Int?
    package let host: String
    package let passwordFile: String?
    package let allowedHosts: [String]
    package let dispatchers: [String]
    package let retrievals: [String]

    package init(_ reader: inout ConfigurationReader) {
        port = reader[\.adminPort]
        host = reader[\.adminHost]
        passwordFile = reader[\.adminPasswordFile]
        allowedHosts = reader[\.adminAllowedHosts] ?? []
        dispatchers = reader[\.dispatcherURL] ?? []
        retrievals = reader[\.retrievalURL] ?? []
    }
}
