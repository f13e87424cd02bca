import CoreMetrics
import Dispatch
import Foundations
import Logging
import ServiceConfiguration
import ServiceLifecycle
import Synchronization
import UnixSignals

#if canImport(Glibc)
import CGlibc
import Glibc
#else
import Darwin
#endif

/// Sets up the process's logging and metrics, and groups its services.
enum ServiceBootstrap {
    /// A drain must end within 10 s: 8 s for the services, 1 s after their cancellation, and the rest for the last
    /// lines of the log.
    static let maxDrain = Duration.seconds(8)
    static let maxCancellation = Duration.seconds(1)
    static let maxFlush = Duration.milliseconds(700)
    /// For a process that ends by itself. On a busy machine the sentence that says why needs longer.
    static let maxFailureFlush = Duration.seconds(5)

    /// To be called once per process, because swift-log and swift-metrics allow no second bootstrap.
    ///
    /// - Returns: the context, and the exporter of its spans if there are any.
    static func bootstrap(
        name: String, logging: LoggingConfiguration, tracing: TracingConfiguration?
    ) -> (ServiceContext, SpanExporter?) {
        LoggingSystem.bootstrap { logging.makeHandler(label: $0, service: name) }
        LogWriter.standardError.noteDrops { logging.droppedLine($0, service: name) }
        let metrics = PrometheusMetrics()
        MetricsSystem.bootstrap(metrics)
        let logger = Logger(label: name)
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

    static func warn(_ issues: [ConfigurationIssue], _ logger: Logger) {
        for issue in issues { logger.warning("\(issue.problem)", metadata: ["key": "\(issue.key)"]) }
    }

    /// A group of all services. SIGTERM and SIGINT drain them in reverse order, and a second signal quits at once.
    /// SIGHUP reloads the registered parts. If a service fails, the others drain too.
    ///
    /// - Parameters:
    ///   - exporter: stops after all parts that make spans.
    ///   - limit: begins when the services begin to stop. A group's own limit would trap.
    static func group(
        of services: [any Service], exporter: SpanExporter? = nil, context: ServiceContext, limit: ShutdownLimit? = nil
    ) -> ServiceGroup {
        let signals: [UnixSignal] = [.sigterm, .sigint]
        let own: [any Service] = [
            SecondSignalService(signals: signals), ReloadService(context: context),
        ]
        let all = own + [exporter].compactMap(\.self) + services
        var configuration = ServiceGroupConfiguration(
            services: all.map { service in
                .init(
                    service: limit?.watching(service) ?? service, successTerminationBehavior: .cancelGroup,
                    failureTerminationBehavior: .gracefullyShutdownGroup,
                    serviceName: String(describing: type(of: service)))
            },
            gracefulShutdownSignals: signals, logger: context.logger)
        configuration.maximumGracefulShutdownDuration = maxDrain
        return ServiceGroup(configuration: configuration)
    }
}

/// Ends the process if its services have not stopped in time.
final class ShutdownLimit: Sendable {
    private let end: @Sendable ((any Error)?) -> Void
    private let isBegun = Mutex(false)
    private let time: Duration
    /// A thread of its own: the threads of the tasks may be blocked.
    private let queue = DispatchQueue(label: "securepush.shutdown")

    /// - Parameters:
    ///   - time: how long the services may take.
    ///   - end: gets the error that began the shutdown; `nil` after a signal.
    init(
        _ time: Duration = ServiceBootstrap.maxDrain + ServiceBootstrap.maxCancellation,
        end: @escaping @Sendable ((any Error)?) -> Void
    ) {
        (self.time, self.end) = (time, end)
    }

    private func begin(_ error: (any Error)?) {
        let isFirst = isBegun.withLock { isBegun in
            defer { isBegun = true }
            return !isBegun
        }
        guard isFirst else { return }
        queue.asyncAfter(deadline: .now() + .milliseconds(Int(time / .milliseconds(1)))) { self.end(error) }
    }

    /// A service whose stop, failure or end begins the time.
    func watching(_ service: any Service) -> any Service { Watched(service: service, limit: self) }

    private struct Watched: Service {
        let service: any Service
        let limit: ShutdownLimit

        func run() async throws {
            do {
                try await withGracefulShutdownHandler {
                    try await service.run()
                } onGracefulShutdown: {
                    limit.begin(nil)
                }
            } catch {
                limit.begin(error)
                throw error
            }
            limit.begin(nil)
        }
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
        raiseFileLimit()
        hideMemory()
        limitHeap()
    }

    /// For every start of the program, before it writes anything.
    static func ignoreSignals() {
        // Writing to a closed connection is an error of write(2), not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        // SIGHUP never ends a service, not even while it starts. ReloadService listens to it.
        signal(SIGHUP, SIG_IGN)
    }

    /// The memory holds keys and payloads. So no core is written, not even through a program that takes cores
    /// (core_pattern), and no other process of the same user can attach or read the memory (prctl(2), ptrace(2)).
    ///
    /// The files of the process in /proc then belong to root. The process itself can still read those that it needs.
    private static func hideMemory() {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        #if canImport(Glibc)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        _ = securepush_hide_memory()
        #else
        setrlimit(RLIMIT_CORE, &none)
        #endif
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
