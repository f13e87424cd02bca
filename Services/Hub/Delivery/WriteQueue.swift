import Domain
import Foundations
import Logging
import Synchronization

/// Writes that nobody waits for: those that arrive during one write are the next one. While the database is away they
/// wait, up to a limit.
final class WriteQueue<Element: Sendable>: Sendable {
    private struct State: Sendable {
        var waiting: [Element] = []
        var isWriting = false
        var isClosing = false
        var idle = WaitList<Void>()
    }

    /// What may wait; the oldest are dropped first.
    private let capacity: Int
    /// The most elements of one write.
    private static var maxGroup: Int { 200 }
    private static var longestPause: Duration { .seconds(1) }

    private let state = Mutex(State())
    private let write: @Sendable ([Element]) async throws -> Void
    private let problem: LastingProblemLog
    private let logger: Logger

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

    var count: Int { state.withLock { $0.waiting.count } }

    func put(_ elements: [Element]) {
        if elements.isEmpty { return }
        let begins = state.withLock { state in
            state.waiting += elements
            if state.waiting.count > capacity { state.waiting.removeFirst(state.waiting.count - capacity) }
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if begins { Task { await run() } }
    }

    /// Waits until everything is written, or the task is cancelled; afterwards a write that fails is not repeated.
    func finish() async {
        state.withLock { $0.isClosing = true }
        try? await state.wait(in: \.idle) { $0.isWriting ? nil : () }
    }

    private func run() async {
        var pause = Duration.milliseconds(50)
        while let group = next() {
            do {
                try await write(group)
                problem.succeeded(to: logger)
                pause = .milliseconds(50)
            } catch let error as StorageError where !error.isRetriable {
                // One element that the database refuses must not stop the others.
                for element in group { try? await write([element]) }
                problem.failed("\(error)", to: logger, metadata: ["count": "\(group.count)"])
            } catch {
                problem.failed("\(ErrorText.describe(error))", to: logger, metadata: ["count": "\(group.count)"])
                if state.withLock({ $0.isClosing }) { continue }
                putBack(group)
                try? await Task.sleep(for: pause)
                pause = min(pause * 2, Self.longestPause)
            }
        }
    }

    private func next() -> [Element]? {
        let (group, idle) = state.withLock { state -> ([Element], [WaitList<Void>.Waiter]) in
            if state.waiting.isEmpty {
                state.isWriting = false
                return ([], state.idle.removeAll())
            }
            let group = Array(state.waiting.prefix(Self.maxGroup))
            state.waiting.removeFirst(group.count)
            return (group, [])
        }
        for waiter in idle { waiter.resume() }
        return group.isEmpty ? nil : group
    }

    private func putBack(_ group: [Element]) {
        state.withLock { state in
            let space = max(capacity - state.waiting.count, 0)
            state.waiting.insert(contentsOf: group.suffix(space), at: 0)
        }
    }
}
