import Domain
import ServiceConfiguration

/// The settings that only retrieval reads. Those of its parts are read beside these parts.
struct RetrievalSettings: Sendable {
    /// Of `HTTP_PORT`.
    static let defaultPort = 8081

    let payloadKeysFile: String
    let auditLog: String?
    /// `HUB_TELEMETRY`: whether the hub's feedback is read.
    let readsFeedback: Bool
    let deviceStaleAfter: Duration
    let pushVerificationKeysFile: String?
    /// `E2E_KEY_NOTICE`: whether users are told about new keys of their devices.
    let noticesKeys: Bool
    /// `WEB_PUSH_PUBLIC_KEY`: web apps subscribe with it.
    let applicationServerKey: ApplicationServerKey?
    /// The web apps that may call the API from a browser.
    let webOrigins: [WebOrigin]
    /// Further request headers that web apps may send.
    let webHeaders: [String]

    init(_ reader: inout ConfigurationReader) {
        auditLog = reader[\.auditLog]
        payloadKeysFile = reader.require(\.payloadKeysFile) ?? ""
        readsFeedback = reader[\.hubTelemetry]
        deviceStaleAfter = reader[\.deviceStaleAfter]
        webOrigins = reader[\.retrievalCORSOrigins] ?? []
        webHeaders = reader[\.retrievalCORSHeaders] ?? []
        noticesKeys = reader[\.e2eKeyNotice]
        pushVerificationKeysFile = reader[\.pushVerificationKeysFile]
        applicationServerKey = reader[\.webPushPublicKey, orFile: \.webPushPublicKeyFile]
    }
}
