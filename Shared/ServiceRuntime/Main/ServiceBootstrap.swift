import CoreMetrics
import Logging
import SecurePushCore
import ServiceConfiguration
import ServiceLifecycle
import UnixSignals

#if canImport(Glibc)
import CGlibc
import Glibc
#else
import Darwin
#endif

/// Sets up the process's logging and metrics, and groups its services.
enum ServiceBootstrap {
    /// A drain must end within 10 s: 8 s for the services, 1 s after their cancellation, 1 s in reserve.
    static let maxDrain = Duration.seconds(8)
    static let maxCancellation = Duration.seconds(1)

    /// To be called once per process, because swift-log and swift-metrics allow no second bootstrap.
    ///
    /// - Returns: the context, and the exporter of its spans if there are any.
    static func bootstrap(
        name: String, logging: LoggingConfiguration, tracing: TracingConfiguration?
    ) -> (ServiceContext, SpanExporter?) {
        LoggingSystem.bootstrap { logging.makeHandler(label: $0, service: name) }
        let metrics = PrometheusMetrics()
        MetricsSystem.bootstrap(metrics)
        let logger = Logger(label: name)
        for warning in logging.warnings { logger.warning("\(warning.problem)", metadata: ["key": "\(warning.key)"]) }
        let exporter = tracing.map {
            SpanExporter($0, service: name, version: SecurePushVersion.current, metrics: metrics, logger: logger)
        }
        let tracer = tracing.flatMap { tracing in
            exporter.map { exporter in SpanTracer(sampler: tracing.sampler) { exporter.receive($0) } }
        }
        let context = ServiceContext(
            name: name, logger: logger, metrics: metrics, tracer: tracer, logsAccess: logging.logsAccess)
        return (context, exporter)
    }

    /// A group of all services. SIGTERM and SIGINT drain them in reverse order, and a second signal quits at once.
    /// SIGHUP reloads the registered parts. If a service fails, the others drain too.
    ///
    /// - Parameter exporter: stops after all parts that make spans.
    static func group(
        of services: [any Service], exporter: SpanExporter? = nil, context: ServiceContext
    ) -> ServiceGroup {
        let signals: [UnixSignal] = [.sigterm, .sigint]
        let own: [any Service] = [
            SecondSignalService(signals: signals), ReloadService(context: context), StartCodeService(),
        ]
        let all = own + [exporter].compactMap(\.self) + services
        var configuration = ServiceGroupConfiguration(
            services: all.map {
                .init(
                    service: $0, successTerminationBehavior: .cancelGroup,
                    failureTerminationBehavior: .gracefullyShutdownGroup, serviceName: String(describing: type(of: $0)))
            },
            gracefulShutdownSignals: signals, logger: context.logger)
        configuration.maximumGracefulShutdownDuration = maxDrain
        configuration.maximumCancellationDuration = maxCancellation
        return ServiceGroup(configuration: configuration)
    }
}

/// Quits at once at the second signal, for an operator who does not want to wait for the drain.
///
/// It is the first service of the group, so the last to be stopped.
struct SecondSignalService: Service {
    let signals: [UnixSignal]
    /// Called at the second signal; tests replace it.
    var quit: @Sendable (UnixSignal) -> Void = { signal in _exit(128 + signal.rawValue) }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var count = 0
            for await signal in await UnixSignalsSequence(trapping: signals) {
                count += 1
                if count == 2 { quit(signal) }
            }
        }
    }
}

/// Process-wide settings, applied once before anything else runs.
enum ProcessTuning {
    static func apply() {
        // Writing to a closed connection is an error of write(2), not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        // SIGHUP never ends a service, not even while it starts. ReloadService listens to it.
        signal(SIGHUP, SIG_IGN)
        raiseFileLimit()
        limitHeap()
    }

    /// Each connection needs a descriptor: raises the soft limit to the hard limit, at most 65,536.
    private static func raiseFileLimit() {
        #if os(Linux)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
        limit.rlim_cur = min(limit.rlim_max, 65_536)
        setrlimit(resource, &limit)
        #endif
    }

    /// Keeps the heap small on glibc.
    ///
    /// By default glibc makes up to eight arenas per core for threads that meet in `malloc`. Each has free lists of its
    /// own, which it hardly ever returns. Two are enough for the few threads of a service. Also by default, freeing a
    /// large block raises glibc's thresholds, after which neither large blocks nor the top of the heap return to the
    /// system. Setting the thresholds keeps them fixed (mallopt(3)).
    private static func limitHeap() {
        #if canImport(Glibc)
        _ = mallopt(M_ARENA_MAX, 2)
        _ = mallopt(M_TRIM_THRESHOLD, 256 * 1024)
        _ = mallopt(M_MMAP_THRESHOLD, 256 * 1024)
        #endif
    }
}
