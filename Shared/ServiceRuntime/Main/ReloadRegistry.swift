import Logging
import SecurePushCore
import ServiceLifecycle
import Synchronization
import UnixSignals

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

    /// Reloads all parts, one after the other, in the order of their registration. A part that fails is logged and does
    /// not keep the others from reloading.
    func reloadAll(logger: Logger) async {
        for part in parts.withLock({ $0 }) {
            do {
                try await part.reload()
                logger.info("Reloaded", metadata: ["part": "\(part.name)"])
            } catch {
                logger.error(
                    "A reload failed; the last good state stays in use",
                    metadata: ["part": "\(part.name)", LogKeys.errorMessage: "\(error)"])
            }
        }
    }
}

extension ServiceContext {
    /// Registers a part that SIGHUP reloads. Call it while the service is being built.
    ///
    /// - Parameters:
    ///   - name: for the log, as `TLS certificate`.
    ///   - reload: reads the part's files or addresses again. If it throws, the part must go on with its last good
    ///     state; the error is logged, so its description must hold no secret. Signals that arrive meanwhile wait.
    public func onReload(_ name: String, _ reload: @escaping @Sendable () async throws -> Void) {
        reloads.add(name, reload)
    }

    /// Reloads every registered part, as SIGHUP does. For tests.
    public func reload() async {
        await reloads.reloadAll(logger: logger)
    }
}

/// Reloads the registered parts at each SIGHUP. The signal never ends the process: from its start on
/// ``ProcessTuning/apply()`` ignores it, and this service only listens.
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
