import CoreMetrics
import Logging
import ServiceConfiguration
import ServiceLifecycle
import UnixSignals

/// Sets the process's logging and metrics, and puts its services into a group.
enum ServiceBootstrap {
    /// The drain must end within 10 s: 8 s for the services, 1 s after their cancellation, 1 s in reserve.
    static let maximumDrain = Duration.seconds(8)
    static let maximumCancellation = Duration.seconds(1)

    /// Once a process: swift-log and swift-metrics allow no second bootstrap.
    static func bootstrap(name: String, logging: LoggingConfiguration) -> ServiceContext {
        LoggingSystem.bootstrap { logging.makeHandler(label: $0, service: name) }
        let metrics = PrometheusMetrics()
        MetricsSystem.bootstrap(metrics)
        let logger = Logger(label: name)
        for warning in logging.warnings { logger.warning("\(warning.problem)", metadata: ["key": "\(warning.key)"]) }
        return ServiceContext(name: name, logger: logger, metrics: metrics)
    }

    /// All services; SIGTERM and SIGINT drain them in reverse order, a second signal quits at once. SIGHUP reloads what
    /// registered for it. A service that fails lets the others drain too.
    static func group(of services: [any Service], context: ServiceContext) -> ServiceGroup {
        let signals: [UnixSignal] = [.sigterm, .sigint]
        let own: [any Service] = [SecondSignalService(signals: signals), ReloadService(context: context)]
        let all = own + services
        var configuration = ServiceGroupConfiguration(
            services: all.map {
                .init(
                    service: $0, successTerminationBehavior: .cancelGroup,
                    failureTerminationBehavior: .gracefullyShutdownGroup, serviceName: String(describing: type(of: $0)))
            },
            gracefulShutdownSignals: signals, logger: context.logger)
        configuration.maximumGracefulShutdownDuration = maximumDrain
        configuration.maximumCancellationDuration = maximumCancellation
        return ServiceGroup(configuration: configuration)
    }
}
