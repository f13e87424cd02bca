import Foundations
package import Logging
import ServiceLifecycle
import Synchronization
package import Tracing
import UnixSignals

/// The things that all parts of a service share.
package struct ServiceContext: Sendable {
    /// The service's own logger; its label is the service's name.
    package let logger: Logger
    /// The metrics that `GET /metrics` shows; also bootstrapped as the process's swift-metrics factory.
    package let metrics: PrometheusMetrics
    /// The executable's name, for example `ingest`.
    package let name: String
    /// The version that `GET /version` answers.
    package let version: String
    /// Makes the service's spans; `nil` if nothing is traced.
    package let tracer: (any Tracer)?
    /// The audit log; `nil` without `AUDIT_LOG`. Set it before the router is made.
    package var audit: AuditLog?
    /// The methods of each path, known once the router is built.
    let routes = RouteTable()
    /// The requests in flight, without those of operators.
    let requests = InFlightRequests()
    /// The proxies that may tell a client's address.
    let proxies = TrustedProxies()
    /// The parts that SIGHUP reloads.
    let reloads = ReloadRegistry()
    /// The handling that all requests have.
    let boundary: RequestBoundary
    let date = DateField()

    /// For ``ServiceMain``, and for tests that build a service themselves.
    ///
    /// - Parameter logsAccess: whether each request gets a line at level info (`ACCESS_LOG`).
    package init(
        name: String, logger: Logger, metrics: PrometheusMetrics, version: String = SecurePushVersion.current,
        tracer: (any Tracer)? = nil, logsAccess: Bool = false
    ) {
        self.name = name
        self.logger = logger
        self.metrics = metrics
        self.version = version
        self.tracer = tracer
        boundary = RequestBoundary(metrics: metrics, logsAccess: logsAccess)
    }
}

/// The parts of a service that SIGHUP reloads; they register with ``ServiceContext/onReload(_:_:)``.
final class ReloadRegistry: Sendable {
    private struct Part {
        let name: String
        let reload: @Sendable () async throws -> Void
    }

    private let parts = Mutex<[Part]>([])

    func add(_ name: String, _ reload: @escaping @Sendable () async throws -> Void) {
        parts.withLock { $0.append(Part(name: name, reload: reload)) }
    }

    /// Reloads all parts one after the other, in the order of their registration. A failure is logged, and the other
    /// parts are reloaded all the same.
    func reloadAll(logger: Logger) async {
        for part in parts.withLock({ $0 }) {
            do {
                try await part.reload()
                logger.info("Reloaded", metadata: ["part": "\(part.name)"])
            } catch {
                logger.error(
                    "A reload failed; the last good state stays in use",
                    metadata: ["part": "\(part.name)", LogKeys.errorMessage: "\(ErrorText.describe(error))"])
            }
        }
    }
}

extension ServiceContext {
    /// Registers a part that SIGHUP reloads. Call it while the service is being built.
    ///
    /// - Parameters:
    ///   - name: for the log, for example `TLS certificate`.
    ///   - reload: reads the part's files or addresses again. If it throws, the part must keep its last good state.
    ///     The error is logged, so its description must not contain a secret. Signals that arrive meanwhile wait.
    package func onReload(_ name: String, _ reload: @escaping @Sendable () async throws -> Void) {
        reloads.add(name, reload)
    }

    /// Reloads every registered part, as SIGHUP does. For tests.
    package func reload() async {
        await reloads.reloadAll(logger: logger)
    }
}

/// Reloads the registered parts at each SIGHUP. The signal never ends the process, because ``ProcessTuning/apply()``
/// ignores it from the start; this service only listens.
struct ReloadService: Service {
    let context: ServiceContext
    var signals: [UnixSignal] = [.sighup]

    func run() async throws {
        await cancelWhenGracefulShutdown {
            for await _ in await UnixSignalsSequence(trapping: signals) {
                await context.reload()
            }
        }
    }
}
