import Domain
import Foundations
import Logging
import Synchronization

/// Writes that no caller has to wait for. Elements that arrive during one write are written together in the next one.
/// While the database is unavailable they wait, up to a limit. An element is given up only if the database refuses it
/// alone.
final class WriteQueue<Element: Sendable>: Sendable {
    private struct State: Sendable {
        var waiting: [Element] = []
        /// How many were ever put, and how many of these are written or were given up.
        var put = 0
        var done = 0
        var isWriting = false
        /// When a write that fails is no longer repeated; `nil` while the service runs.
        var end: ContinuousClock.Instant?
        /// The value of ``put`` that each waits for.
        var waiters = WaitList<Void>()

        /// - Returns: those who need not wait any more.
        mutating func end(_ count: Int) -> [WaitList<Void>.Waiter] {
            done += count
            var ended: [WaitList<Void>.Waiter] = []
            while let first = waiters.first, first.size <= done { ended += [waiters.popFirst()].compactMap(\.self) }
            return ended
        }
    }

    /// The most elements that may wait; the oldest are given up first.
    private let capacity: Int
    /// How long elements wait for others, so that a write has many of them.
    private let gathering: Duration
    /// How long a shutdown waits for an unavailable database.
    private let patience: Duration
    private let state = Mutex(State())
    private let write: @Sendable ([Element]) async throws -> Void
    private let problem: LastingProblemLog
    private let loss: LastingProblemLog
    private let logger: Logger

    /// The most elements of one write.
    private static var maxGroup: Int { 200 }
    private static var firstPause: Duration { .milliseconds(50) }
    private static var longestPause: Duration { .seconds(1) }

    /// - Parameters:
    ///   - name: of the elements, for the log: `Outcomes of pushes`.
    ///   - gathering: how long elements wait for others before they are written.
    ///   - write: writes a group, or nothing of it if it throws.
    init(
        _ name: String, capacity: Int = 65_536, gathering: Duration = .zero, patience: Duration = .seconds(3),
        logger: Logger,
        write: @escaping @Sendable ([Element]) async throws -> Void
    ) {
        self.capacity = capacity
        self.gathering = gathering
        self.patience = patience
        self.logger = logger
        self.write = write
        problem = LastingProblemLog("\(name) cannot be stored at the moment", end: "\(name) are stored again")
        loss = LastingProblemLog("\(name) are lost")
    }

    func put(_ elements: [Element]) {
        if elements.isEmpty { return }
        let (begins, excess, waiters) = state.withLock { state in
            state.waiting += elements
            state.put += elements.count
            let excess = max(state.waiting.count - capacity, 0)
            state.waiting.removeFirst(excess)
            defer { state.isWriting = true }
            return (!state.isWriting, excess, state.end(excess))
        }
        for waiter in waiters { waiter.resume() }
        if excess > 0 { lose(excess, "too many wait") }
        if begins { Task { await run() } }
    }

    /// Waits until all that was put before is written or was given up, or the task is cancelled.
    func waitUntilWritten() async {
        let count = state.withLock { $0.put }
        try? await state.wait(in: \.waiters, size: count) { $0.done >= count ? () : nil }
    }

    /// Waits like ``waitUntilWritten()``; from now on a write that fails is repeated for a few seconds only.
    func finish() async {
        state.withLock { $0.end = $0.end ?? .now + patience }
        await waitUntilWritten()
    }

    private func run() async {
        var pause = Self.firstPause
        while true {
            if gathering > .zero, !isGroupComplete { try? await Task.sleep(for: gathering) }
            guard let group = next() else { return }
            let rest = await attempt(group)
            let kept = putBack(rest)
            for waiter in state.withLock({ $0.end(group.count - kept) }) { waiter.resume() }
            if kept < rest.count { lose(rest.count - kept, "the database is away") }
            if rest.isEmpty {
                pause = Self.firstPause
            } else {
                try? await Task.sleep(for: pause)
                pause = min(pause * 2, Self.longestPause)
            }
        }
    }

    /// Writes a group. If the database refuses it, writes its elements one by one, because one element must not stop
    /// the others.
    ///
    /// - Returns: those that may be written later, because the database is unavailable or busy.
    private func attempt(_ group: [Element]) async -> [Element] {
        do {
            try await write(group)
            problem.succeeded(to: logger)
            return []
        } catch {
            if Self.mayRepeat(error) {
                problem.failed(ErrorText.describe(error), to: logger, metadata: ["count": "\(group.count)"])
                return group
            }
            if group.count == 1 {
                lose(1, ErrorText.describe(error))
                return []
            }
        }
        for (index, element) in group.enumerated() {
            let rest = await attempt([element])
            if !rest.isEmpty { return Array(group[index...]) }
        }
        return []
    }

    private static func mayRepeat(_ error: any Error) -> Bool { (error as? StorageError)?.isRetriable ?? true }

    private func lose(_ count: Int, _ error: String) {
        loss.failed(error, to: logger, metadata: ["count": "\(count)"])
    }

    /// Whether more need not be waited for.
    private var isGroupComplete: Bool { state.withLock { $0.waiting.count >= Self.maxGroup || $0.end != nil } }

    private func next() -> [Element]? {
        state.withLock { state in
            if state.waiting.isEmpty {
                state.isWriting = false
                return nil
            }
            let group = Array(state.waiting.prefix(Self.maxGroup))
            state.waiting.removeFirst(group.count)
            return group
        }
    }

    /// - Returns: how many of these are written later; the oldest are given up first.
    private func putBack(_ group: [Element]) -> Int {
        state.withLock { state in
            if let end = state.end, end <= .now { return 0 }
            let kept = group.suffix(max(capacity - state.waiting.count, 0))
            state.waiting.insert(contentsOf: kept, at: 0)
            return kept.count
        }
    }
}
