import CoreMetrics
import Logging
import ServiceConfiguration
import ServiceLifecycle
import UnixSignals

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

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

/// Quits at once at the second signal: the first one drains, and an operator who sends another has no patience left.
///
/// The first service of the group, so the last to be stopped.
struct SecondSignalService: Service {
    let signals: [UnixSignal]
    /// What to do at the second signal; tests give their own.
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
        // A peer that has gone away is an error of write(2), not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        // SIGHUP reloads and never ends a service, not even while it starts; ReloadService listens to it.
        signal(SIGHUP, SIG_IGN)
        raiseFileLimit()
        limitHeap()
    }

    /// A connection is a descriptor: take all that the system allows without asking.
    static func raiseFileLimit() {
        #if os(Linux)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
        limit.rlim_cur = min(limit.rlim_max, 65_536)
        setrlimit(resource, &limit)
        #endif
    }

    /// Keeps resident memory low on glibc: the goal is at most 40 MiB a service when idle and 80 MiB at its peak.
    ///
    /// By default glibc gives up to eight arenas a core to threads that meet in `malloc`, each with its own free lists
    /// that are hardly ever given back; two are enough for the few threads of a service. And it raises its thresholds
    /// with every large block that is freed, after which neither large blocks nor the top of the heap return to the
    /// system; setting them keeps them where they are. `mallopt` is not in Swift's Glibc module, hence the look-up.
    static func limitHeap() {
        #if os(Linux) && canImport(Glibc)
        typealias Mallopt = @convention(c) (Int32, Int32) -> Int32
        guard let handle = dlopen(nil, RTLD_NOW), let symbol = dlsym(handle, "mallopt") else { return }
        let mallopt = unsafeBitCast(symbol, to: Mallopt.self)
        // Numbers from malloc.h: M_ARENA_MAX, M_TRIM_THRESHOLD, M_MMAP_THRESHOLD.
        _ = mallopt(-8, 2)
        _ = mallopt(-1, 256 * 1024)
        _ = mallopt(-3, 256 * 1024)
        #endif
    }
}
