import Domain
import Foundations
import Logging
import Synchronization

/// Writes that nobody has to wait for: those that arrive during one write are the next one. While the database is away
/// they wait, up to a limit.
final class WriteQueue<Element: Sendable>: Sendable {
    private struct State: Sendable {
        var waiting: [Element] = []
        /// How many were ever put, and how many of these are written or were given up.
        var put = 0
        var done = 0
        var isWriting = false
        var isClosing = false
        /// Of the size of ``put`` that each waits for.
        var waiters = WaitList<Void>()

        /// - Returns: those who need not wait any more.
        mutating func end(_ count: Int) -> [WaitList<Void>.Waiter] {
            done += count
            var ended: [WaitList<Void>.Waiter] = []
            while let first = waiters.first, first.size <= done { ended += [waiters.popFirst()].compactMap(\.self) }
            return ended
        }
    }

    /// What may wait; the oldest are given up first.
    private let capacity: Int
    private let state = Mutex(State())
    private let write: @Sendable ([Element]) async throws -> Void
    private let problem: LastingProblemLog
    private let logger: Logger

    /// The most elements of one write.
    private static var maxGroup: Int { 200 }
    private static var firstPause: Duration { .milliseconds(50) }
    private static var longestPause: Duration { .seconds(1) }

    /// - Parameters:
    ///   - name: of the elements, for the log: `Outcomes of pushes`.
    ///   - write: writes a group, or nothing of it if it throws.
    init(
        _ name: String, capacity: Int = 65_536, logger: Logger,
        write: @escaping @Sendable ([Element]) async throws -> Void
    ) {
        self.capacity = capacity
        self.logger = logger
        self.write = write
        problem = LastingProblemLog("\(name) cannot be stored at the moment", end: "\(name) are stored again")
    }

    func put(_ elements: [Element]) {
        if elements.isEmpty { return }
        let (begins, waiters) = state.withLock { state in
            state.waiting += elements
            state.put += elements.count
            let excess = max(state.waiting.count - capacity, 0)
            state.waiting.removeFirst(excess)
            defer { state.isWriting = true }
            return (!state.isWriting, state.end(excess))
        }
        for waiter in waiters { waiter.resume() }
        if begins { Task { await run() } }
    }

    /// Waits until all that was put before is written or was given up, or the task is cancelled.
    func waitUntilWritten() async {
        let count = state.withLock { $0.put }
        try? await state.wait(in: \.waiters, size: count) { $0.done >= count ? () : nil }
    }

    /// Waits like ``waitUntilWritten()``; from now on a write that fails is not repeated.
    func finish() async {
        state.withLock { $0.isClosing = true }
        await waitUntilWritten()
    }

    private func run() async {
        var pause = Self.firstPause
        while let group = next() {
            do {
                try await write(group)
                problem.succeeded(to: logger)
                pause = Self.firstPause
            } catch let error as StorageError where !error.isRetriable {
                // One element that the database refuses must not stop the others.
                if group.count > 1 { for element in group { try? await write([element]) } }
                problem.failed("\(error)", to: logger, metadata: ["count": "\(group.count)"])
            } catch {
                problem.failed(ErrorText.describe(error), to: logger, metadata: ["count": "\(group.count)"])
                if putBack(group) {
                    try? await Task.sleep(for: pause)
                    pause = min(pause * 2, Self.longestPause)
                    continue
                }
            }
            for waiter in state.withLock({ $0.end(group.count) }) { waiter.resume() }
        }
    }

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

    /// - Returns: whether the group is written later.
    private func putBack(_ group: [Element]) -> Bool {
        state.withLock { state in
            if state.isClosing || state.waiting.count + group.count > capacity { return false }
            state.waiting.insert(contentsOf: group, at: 0)
            return true
        }
    }
}
