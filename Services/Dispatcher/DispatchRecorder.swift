import Domain
import Foundations
import Logging
import Metrics
import Synchronization

/// Stores the outcomes of attempts. An outcome that the store refuses for good becomes a dead letter, and does not
/// delay the others.
final class DispatchRecorder: Sendable {
    struct Recorded: Sendable {
        /// Their outcomes are stored, or there was nothing to store. One that the store refuses has a dead letter in
        /// place of its messages.
        var done: [Settlement] = []
        var left: [Settlement] = []
    }

    typealias Pushes = GroupWrite<Settlement, Set<NotificationID>>
    typealias FollowUps = GroupWrite<Settlement, Void>

    private let store: any DispatchStore
    private let logger: Logger
    private let metrics: DispatchMetrics
    private let pushes = Attempts(
        LastingProblemLog("Outcomes cannot be stored at the moment", end: "Outcomes are stored again"))
    private let followed = Attempts(
        LastingProblemLog(
            "Outcomes of withdrawals and reminders cannot be stored at the moment",
            end: "Outcomes of withdrawals and reminders are stored again"))

    /// The state of the statements of one kind.
    private final class Attempts: Sendable {
        let isFailing = Atomic(false)
        let problem: LastingProblemLog

        init(_ problem: LastingProblemLog) { self.problem = problem }
    }

    init(store: any DispatchStore, logger: Logger, metrics: DispatchMetrics) {
        self.store = store
        self.logger = logger
        self.metrics = metrics
    }

    /// Whether the last outcome of a push could not be stored, and nothing was stored since.
    var isFailing: Bool { pushes.isFailing.load(ordering: .relaxed) }

    /// Throws while outcomes of pushes cannot be stored: a push that cannot be recorded must not be sent. A statement
    /// that matches no row may succeed where a write does not, so it ends nothing.
    func expectPushes() async throws {
        if isFailing { try await Pushes.probe(store) }
    }

    /// A claim of pushes has changed rows: the store takes writes again.
    func pushesWereClaimed() { pushes.isFailing.store(false, ordering: .relaxed) }

    /// Throws while outcomes of withdrawals and reminders cannot be stored; see ``expectPushes()``.
    func expectFollowUps() async throws {
        if followed.isFailing.load(ordering: .relaxed) { try await FollowUps.probe(store) }
    }

    func followUpsWereClaimed() { followed.isFailing.store(false, ordering: .relaxed) }

    /// Stores the outcomes of notifications and of follow-ups. Neither waits for the other, and a failure of one does
    /// not undo the other.
    ///
    /// - Parameter mayTry: whether to try once more while the store is unavailable, since the first try at a time.
    func record(
        _ settlements: [Settlement], while mayTry: @escaping @Sendable (ContinuousClock.Instant) -> Bool
    ) async -> Recorded {
        let (pushed, others) = settlements.partitioned { $0.outcome != nil }
        let (followed, idle) = others.partitioned { $0.followUp != nil }
        async let pushes = recordPushes(pushed, mayTry)
        async let follows = recordFollowUps(followed, mayTry)
        let results = await [pushes, follows]
        return Recorded(done: idle + results.flatMap(\.done), left: results.flatMap(\.left))
    }

    /// Stores that notifications wait in the outbox for their next try, whose message the broker did not take. If that
    /// fails, their entries still fall due again, only later.
    ///
    /// - Parameter margins: how much later than planned each falls due.
    func postpone(_ settlements: [(settlement: Settlement, margin: Duration)]) async {
        let outcomes = settlements.compactMap { settlement, margin -> DispatchOutcome? in
            guard var outcome = settlement.outcome, let next = outcome.nextTry else { return nil }
            (outcome.dueAgain, outcome.nextTry, outcome.pushedAt) = (next + margin, nil, nil)
            return outcome
        }
        guard !outcomes.isEmpty else { return }
        do {
            try await store.record(outcomes)
        } catch {
            pushes.problem.failed("\(error)", to: logger, metadata: ["count": "\(outcomes.count)"])
            metrics.recordFailures.increment()
        }
    }

    private func recordPushes(
        _ settlements: [Settlement], _ mayTry: @Sendable (ContinuousClock.Instant) -> Bool
    ) async -> Recorded {
        if settlements.isEmpty { return Recorded() }
        let result = await attempt(settlements, Pushes.record(store), pushes) { start, _ in mayTry(start) }
        let fenced = result.values.reduce(into: Set()) { $0.formUnion($1) }
        let stored = result.stored(of: settlements)
        return Recorded(
            done: (fenced.isEmpty ? stored : stored.map { $0.droppingMessages(ifIn: fenced) }) + result.letters,
            left: result.left)
    }

    /// A follow-up whose outcome cannot be stored falls due again by itself. So while the store refuses all of them,
    /// they are not put back in the broker.
    private func recordFollowUps(
        _ settlements: [Settlement], _ mayTry: @Sendable (ContinuousClock.Instant) -> Bool
    ) async -> Recorded {
        if settlements.isEmpty { return Recorded() }
        let result = await attempt(settlements, FollowUps.record(store), followed) { start, isRetriable in
            isRetriable && mayTry(start)
        }
        let stored = result.stored(of: settlements)
        metrics.countFollowUps(stored.compactMap(\.followUp))
        let (left, dropped) = result.isRetriable ? (result.left, []) : ([], result.left)
        return Recorded(done: stored + result.letters + dropped, left: left)
    }

    /// Stores a group, and tries again while the store is unavailable, because a duplicate push is worse than a wait.
    private func attempt<Value>(
        _ settlements: [Settlement], _ write: GroupWrite<Settlement, Value>, _ attempts: Attempts,
        _ mayTry: (_ start: ContinuousClock.Instant, _ isRetriable: Bool) -> Bool
    ) async -> GroupWrite<Settlement, Value>.Result {
        let start = ContinuousClock.now
        var wait = Duration.milliseconds(50)
        var result = GroupWrite<Settlement, Value>.Result(left: settlements)
        repeat {
            result.add(await write(result.left))
            guard let failure = result.failure else {
                if !result.values.isEmpty { attempts.isFailing.store(false, ordering: .relaxed) }
                attempts.problem.succeeded(to: logger)
                break
            }
            attempts.isFailing.store(true, ordering: .relaxed)
            attempts.problem.failed("\(failure)", to: logger, metadata: ["count": "\(result.left.count)"])
            metrics.recordFailures.increment()
            guard mayTry(start, result.isRetriable) else { break }
            try? await Task.sleep(for: wait)
            wait = min(wait * 2, .seconds(1))
        } while mayTry(start, result.isRetriable)
        guard result.isRetriable, result.left.count > 1 else { return result }
        // Not while the dispatcher stops.
        let count = result.values.count
        result = await write.separate(result) { mayTry(.now, true) }
        if result.values.count > count { attempts.isFailing.store(false, ordering: .relaxed) }
        return result
    }
}

extension GroupWrite.Result where Element == Settlement {
    fileprivate func stored(of settlements: [Settlement]) -> [Settlement] {
        if refused.isEmpty && left.isEmpty { return settlements }
        let others = Set((refused.map(\.element) + left).map(\.delivery.message?.key))
        return settlements.filter { !others.contains($0.delivery.message?.key) }
    }

    /// The settlements that the store refuses, with dead letters.
    fileprivate var letters: [Settlement] { refused.map { $0.element.refused($0.error) } }
}

extension Settlement {
    /// The settlement if the store refuses its outcome for good. The row stays as it is, and leaves the outbox.
    fileprivate func refused(_ error: StorageError) -> Settlement {
        guard let message = delivery.message else { return self }
        var settlement = self
        (settlement.outcome, settlement.followUp, settlement.retry) = (nil, nil, nil)
        let reasons = ["the outcome cannot be stored: \(error.message)", dead?.reason].compactMap(\.self)
        settlement.dead = DeadLetterDraft(
            message: message, reason: reasons.joined(separator: "; "), cause: .record)
        return settlement
    }
}
