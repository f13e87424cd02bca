import Logging
import SecurePushCore
import ServiceLifecycle

/// Destroys what has outlived its time: the ciphertext of expired notifications within a minute of their expiry, later
/// their rows, and idempotency keys.
///
/// Every ingest process sweeps; the store keeps them out of each other's way.
struct PurgeSweep: Service {
    let retention: any Retention
    let logger: Logger
    private let clock: any Clock<Duration>
    private let metrics = PurgeMetrics()
    private let problem = LastingProblemLog(
        "Expired notifications cannot be purged for now.", end: "Expired notifications are purged again.")

    /// How often it is looked for what has expired; a sixth of the minute, so that failures have room.
    static let interval = Duration.seconds(10)

    /// - Parameter clock: measures batches and waits; a test's one does not wait.
    init(retention: any Retention, logger: Logger, clock: any Clock<Duration> = ContinuousClock()) {
        self.retention = retention
        self.logger = logger
        self.clock = clock
    }

    /// Runs until a graceful shutdown, which it does not hold up.
    func run() async throws {
        await cancelWhenGracefulShutdown {
            var pace = PurgePace()
            // Processes that were started together must not go in step.
            var wait = Self.interval * Double.random(in: 0...1)
            while (try? await clock.sleep(for: wait)) != nil {
                await sweep(&pace)
                wait = Self.interval * Double.random(in: 0.9...1.1)
            }
        }
    }

    /// Works off all that is due now, batch by batch.
    private func sweep(_ pace: inout PurgePace) async {
        while !Task.isCancelled {
            do {
                var report = PurgeReport()
                let duration = try await clock.measure {
                    report = try await retention.purge(limit: pace.limit, now: .now)
                }
                metrics.count(report, taking: duration)
                problem.succeeded(to: logger)
                guard let pause = pace.pause(afterBatchOf: report.largest, taking: duration) else { return }
                try await clock.sleep(for: pause)
            } catch is CancellationError {
                return
            } catch {
                problem.failed("\(error)", to: logger)
                return
            }
        }
    }
}
