package import Domain

/// The settings that only a dispatcher reads; see ``IngestSettings``.
package struct DispatcherSettings: Sendable {
    /// Of `HTTP_PORT`.
    package static let defaultPort = 8082

    package let platforms: [Platform]
    package let maxAttempts: Int
    package let retryDelays: RetryDelays
    package let withdrawals: WithdrawalMode
    /// The maximum of unacknowledged deliveries.
    package let prefetch: Int
    /// Requests to each hub in flight.
    package let concurrency: Int
    /// Whether platforms on which the recipient has no device are skipped.
    package let registeredOnly: Bool
    /// The minimum time between two silent pushes of one recipient on one platform; `nil` if it is off.
    package let silentInterval: Duration?
    package let pushSigningKeyFile: String?
    package let auditLog: String?
    /// `HUB_TELEMETRY`: whether the hub is asked for the outcomes of its messages.
    package let asksForOutcomes: Bool

    package init(_ reader: inout ConfigurationReader) {
        platforms = reader.platforms()
        maxAttempts = reader[\.dispatchMaxAttempts]
        retryDelays = RetryDelays(reader[\.retryDelays])
        withdrawals = reader[\.dispatchWithdraw]
        prefetch = reader[\.dispatchPrefetch]
        concurrency = reader[\.dispatchConcurrency]
        registeredOnly = reader[\.dispatchRegisteredOnly]
        silentInterval = reader[\.silentPushMinInterval]
        pushSigningKeyFile = reader[\.pushSigningKeyFile]
        asksForOutcomes = reader[\.hubTelemetry]
        auditLog = reader[\.auditLog]
    }
}
