import Domain
import Foundations
import Logging
import Metrics
import ServiceRuntime
import Synchronization

/// Deletes expired data: the ciphertext of a notification within a minute after its expiry, later its rows, and
/// idempotency keys.
///
/// Every ingest process sweeps; the store keeps them from blocking each other.
///
/// Decision: docs/decisions/0016-destruction-is-separate-work.md
final class PurgeSweep: Sendable {
    private let retention: any OperatorStore
    private let logger: Logger
    private let clock: any Clock<Duration>
    private let pace = Mutex(PurgePace())
    private let metrics = PurgeMetrics()
    private let problem = LastingProblemLog(
        "Expired notifications cannot be purged", end: "Expired notifications are purged again")

    /// A sixth of the minute, which leaves time for sweeps that fail.
    static let interval = Duration.seconds(10)

    /// - Parameter clock: measures batches and the pauses between them; a test's clock does not wait.
    init(retention: any OperatorStore, logger: Logger, clock: any Clock<Duration> = ContinuousClock()) {
        self.retention = retention
        self.logger = logger
        self.clock = clock
    }

    /// Purges everything that is due now, batch by batch.
    func sweep() async {
        while !Task.isCancelled {
            do {
                var report = PurgeReport()
                let duration = try await clock.measure {
                    report = try await retention.purge(limit: pace.withLock { $0.limit }, now: .now)
                }
                metrics.count(report, taking: duration)
                if let refusal = report.refusal {
                    problem.failed("\(refusal)", to: logger)
                } else {
                    problem.succeeded(to: logger)
                }
                let largest = report.largest
                guard let pause = pace.withLock({ $0.pause(afterBatchOf: largest, taking: duration) }) else { return }
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

/// How fast a backlog of expired data is purged alongside live traffic.
///
/// A batch blocks writers while it runs, so batches are kept below ``target``. Each is followed by a pause of twice its
/// duration, so purging takes at most a third of the store's time. A value without clock or store.
struct PurgePace: Equatable {
    /// A batch that takes longer makes the next one smaller.
    static let target = Duration.milliseconds(50)
    static let limits = 16...1000
    /// The longest pause: a slow store must not stop the purge.
    static let maxPause = Duration.seconds(2)

    /// Rows of each kind in the next batch.
    private(set) var limit = 500

    /// Adapts ``limit`` to the last batch.
    ///
    /// - Parameters:
    ///   - largest: the number of rows of the most frequent kind in it.
    ///   - duration: how long it took.
    /// - Returns: the pause before the next batch; `nil` if the batch was not full, so that nothing is left.
    mutating func pause(afterBatchOf largest: Int, taking duration: Duration) -> Duration? {
        let isFull = largest >= limit
        if duration > PurgePace.target {
            limit = max(limit / 2, PurgePace.limits.lowerBound)
        } else if isFull, duration * 2 <= PurgePace.target {
            limit = min(limit * 2, PurgePace.limits.upperBound)
        }
        return isFull ? min(duration * 2, PurgePace.maxPause) : nil
    }
}

/// Counts purged rows and measures batches.
private struct PurgeMetrics: Sendable {
    private let payloads = Metric.purged.counter("payload")
    private let notifications = Metric.purged.counter("notification")
    private let keys = Metric.purged.counter("key")
    private let duration = Metric.purgeBatchDuration.timer()

    func count(_ report: PurgeReport, taking duration: Duration) {
        payloads.increment(by: report.payloads)
        notifications.increment(by: report.notifications)
        keys.increment(by: report.keys)
        self.duration.record(duration: duration)
    }
}
