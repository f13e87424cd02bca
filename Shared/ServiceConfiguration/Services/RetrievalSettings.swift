/// The settings that only retrieval reads; see ``IngestSettings``.
package struct RetrievalSettings: Sendable {
    /// Of `HTTP_PORT`.
    package static let defaultPort = 8081

    package let payloadKeysFile: String
    package let auditLog: String?
    /// `HUB_TELEMETRY`: whether the hub's feedback is read.
    package let readsFeedback: Bool
    package let deviceStaleAfter: Duration
    package let pushVerificationKeysFile: String?
    /// The web apps that may call the API from a browser.
    package let webOrigins: [WebOrigin]
    /// Further request headers that web apps may send.
    package let webHeaders: [String]

    package init(_ reader: inout ConfigurationReader) {
        auditLog = reader[\.auditLog]
        payloadKeysFile = reader.require(\.payloadKeysFile) ?? ""
        readsFeedback = reader[\.hubTelemetry]
        deviceStaleAfter = reader[\.deviceStaleAfter]
        webOrigins = reader[\.retrievalCORSOrigins] ?? []
        webHeaders = reader[\.retrievalCORSHeaders] ?? []
        pushVerificationKeysFile = reader[\.pushVerificationKeysFile]
    }
}
