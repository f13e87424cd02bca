package import Logging

/// The HTTP client of all connectors.
package final class PushHTTPClient: PushHTTPSending {
    package init(configuration: PushHTTPClientConfiguration, logger: Logger) {}

    package func send(
        _ request: PushHTTPRequest, deadline: ContinuousClock.Instant
    ) async -> Result<PushHTTPResponse, PushHTTPFailure> {
        .failure(.notSent(reason: "not built yet"))
    }

    package func close(deadline: ContinuousClock.Instant) async {}
}
