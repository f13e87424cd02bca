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

    package init(_ reader: inout ConfigurationReader) {
        auditLog = reader[\.auditLog]
        payloadKeysFile = reader.require(\.payloadKeysFile) ?? ""
        apiKeysFile = reader.require(\.ingestAPIKeysFile) ?? ""
        platforms = reader.platforms()
        retention = reader[\.retention]
        requiresEncryption = reader[\.recipientE2ERequired]
        userRateLimit = reader[\.rateLimitUser]
        for name in Self.movedToOperator where reader.environment[name] != nil {
            reader.note(
                name, "is no setting of ingest: the operator's page is the service `operator`, at its HTTP_PORT")
        }
    }

    /// Settings of earlier versions. Somebody who sets them expects the page here.
    private static let movedToOperator = ["ADMIN_PORT", "ADMIN_HOST"]
}
