import Domain
import ServiceConfiguration

/// The settings that only a dispatcher reads. Those of its parts are read beside these parts.
struct DispatcherSettings: Sendable {
    /// Of `HTTP_PORT`.
    static let defaultPort = 8082

    let platforms: [Platform]
    let maxAttempts: Int
    let retryDelays: RetryDelays
    let withdrawals: WithdrawalMode
    /// The maximum of unacknowledged deliveries.
    let prefetch: Int
    /// Requests to each hub in flight.
    let concurrency: Int
    /// Whether platforms on which the recipient has no device are skipped.
    let registeredOnly: Bool
    /// The minimum time between two silent pushes of one recipient on one platform; `nil` if it is off.
    let silentInterval: Duration?
    let pushSigningKeyFile: String?
    /// `BROWSER_PUSH_URL`: the web app that declarative pushes open.
    let browserPage: String?
    let auditLog: String?
    /// `HUB_TELEMETRY`: whether the hub is asked for the outcomes of its messages.
    let asksForOutcomes: Bool

    init(_ reader: inout ConfigurationReader) {
        platforms = reader.platforms()
        maxAttempts = reader[\.dispatchMaxAttempts]
        retryDelays = RetryDelays(reader[\.retryDelays])
        withdrawals = reader[\.dispatchWithdraw]
        prefetch = reader[\.dispatchPrefetch]
        concurrency = reader[\.dispatchConcurrency]
        registeredOnly = reader[\.dispatchRegisteredOnly]
        silentInterval = reader[\.silentPushMinInterval]
        pushSigningKeyFile = reader[\.pushSigningKeyFile]
        browserPage = reader[\.browserPushURL]
        asksForOutcomes = reader[\.hubTelemetry]
        auditLog = reader[\.auditLog]
    }
}
