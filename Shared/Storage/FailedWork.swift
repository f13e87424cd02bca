import Domain
import Synchronization

/// The work that a database could not do, although it answers: a disk is full, a table is missing, a right was revoked,
/// a part of a file is damaged.
///
/// A ping is easier than the work, so readiness follows from the work: a kind of work that failed keeps the store
/// unready until it succeeds. Without requests it is tried out again, and undone, whenever readiness is asked for.
final class FailedWork: Sendable {
    /// Does the work and undoes it; returns why the database still cannot do it.
    typealias Trial = @Sendable () async -> StorageError?

    private struct Failure {
        let number: Int
        var error: StorageError
        /// Whether it is a time limit that was met once, which a busy moment explains.
        let isDoubtful: Bool
        let trial: Trial
    }

    private struct State {
        var failures: [String: Failure] = [:]
        var lastNumber = 0
        var isTrying = false
        var triedAt: ContinuousClock.Instant?
    }

    /// Bounds the memory: each failure holds the values of its statement.
    private static let maxCount = 16
    private static let interval = Duration.seconds(1)

    private let state = Mutex(State())
    /// Read after each success, so without the lock.
    private let failureExists = Atomic(false)

    var hasFailures: Bool { failureExists.load(ordering: .relaxed) }

    /// Notes that the database could not do some work, for a reason that lies with the database and not with a value.
    /// A time limit counts if the same kind of work meets it twice in a row.
    func failed(_ kind: String, _ error: StorageError, trial: @escaping Trial) {
        state.withLock { state in
            guard state.failures[kind] != nil || state.failures.count < Self.maxCount else { return }
            state.lastNumber += 1
            let isDoubtful = error.code == .timeout && state.failures[kind] == nil
            state.failures[kind] = Failure(
                number: state.lastNumber, error: error, isDoubtful: isDoubtful, trial: trial)
            failureExists.store(true, ordering: .relaxed)
        }
    }

    func succeeded(_ kind: String) {
        if hasFailures { state.withLock { remove(kind, &$0) } }
    }

    /// The error of the work that failed last; `nil` if all work succeeds. Begins to try it out again, at most once a
    /// second; the next call tells the result.
    func check() -> StorageError? {
        guard hasFailures else { return nil }
        let (problem, isDue) = state.withLock { state in
            let last = state.failures.values.filter { !$0.isDoubtful }.max { $0.number < $1.number }
            let now = ContinuousClock.now
            let isDue = last != nil && !state.isTrying && state.triedAt.map { now - $0 >= Self.interval } ?? true
            if isDue { (state.isTrying, state.triedAt) = (true, now) }
            return (last?.error, isDue)
        }
        // Bounded by the time limits of the database.
        if isDue { Task { await tryAll() } }
        return problem
    }

    private func tryAll() async {
        for (kind, failure) in state.withLock({ $0.failures }) where !failure.isDoubtful {
            let error = await failure.trial()
            state.withLock { state in
                // It may have failed again meanwhile, or succeeded.
                guard state.failures[kind]?.number == failure.number else { return }
                if let error { state.failures[kind]?.error = error } else { remove(kind, &state) }
            }
        }
        state.withLock { $0.isTrying = false }
    }

    private func remove(_ kind: String, _ state: inout State) {
        state.failures[kind] = nil
        failureExists.store(!state.failures.isEmpty, ordering: .relaxed)
    }
}
