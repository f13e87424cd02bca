import Domain
import ServiceConfiguration

/// The settings that only ingest reads. Those of its parts (HTTP, storage, broker, users) are read beside these parts.
struct IngestSettings: Sendable {
    /// Of `HTTP_PORT`.
    static let defaultPort = 8080

    let payloadKeysFile: String
    let apiKeysFile: String
    let platforms: [Platform]
    let retention: Duration
    /// Whether every payload must be encrypted end to end.
    let requiresEncryption: Bool
    /// `E2E_KEY_NOTICE`: whether users are told about new keys of their devices.
    let noticesKeys: Bool
    /// `nil` for no limit.
    let userRateLimit: RateLimit?
    let auditLog: String?

    init(_ reader: inout ConfigurationReader) {
        auditLog = reader[\.auditLog]
        payloadKeysFile = reader.require(\.payloadKeysFile) ?? ""
        apiKeysFile = reader.require(\.ingestAPIKeysFile) ?? ""
        platforms = reader.platforms()
        retention = reader[\.retention]
        requiresEncryption = reader[\.recipientE2ERequired]
        noticesKeys = reader[\.e2eKeyNotice]
        userRateLimit = reader[\.rateLimitUser]
        for name in Self.movedToOperator where reader.environment[name] != nil {
            reader.note(
                name, "is no setting of ingest: the operator's page is the service `operator`, at its HTTP_PORT")
        }
    }

    /// Settings of earlier versions, in which ingest served the page.
    private static let movedToOperator = ["ADMIN_PORT", "ADMIN_HOST"]
}
