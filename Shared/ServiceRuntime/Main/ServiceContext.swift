public import Logging

/// What every part of a service shares.
public struct ServiceContext: Sendable {
    /// The service's own logger; its label is the service's name.
    public let logger: Logger
    /// The metrics that `GET /metrics` shows; also bootstrapped as the process's swift-metrics factory.
    public let metrics: PrometheusMetrics
    /// The executable's name, as `ingest`.
    public let name: String
    /// The version that `GET /version` answers.
    public let version: String
    /// Which methods each path takes, known once the router is built.
    let routes = RouteTable()
    /// The requests in flight, all but those of operators.
    let requests = InFlightRequests()
    /// What SIGHUP reloads.
    let reloads = ReloadRegistry()

    /// For `ServiceMain`, and for tests that build a service by themselves.
    public init(
        name: String, logger: Logger, metrics: PrometheusMetrics, version: String = SecurePushVersion.current
    ) {
        self.name = name
        self.logger = logger
        self.metrics = metrics
        self.version = version
    }
}
