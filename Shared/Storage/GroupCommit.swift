import SecurePushCore
import ServiceLifecycle
import Synchronization

/// Coalesces concurrent requests into commits: what arrives while one commit is under way is the next one.
///
/// A durable commit costs a disk flush whatever its size, so many callers share one. There is no timer: a lone request
/// is committed at once, and the more there are, the larger the groups become by themselves.
final class GroupCommit<Element: Sendable, Output: Sendable>: Sendable {
    private typealias Waiter = CheckedContinuation<[Output], any Error>

    private struct State {
        var queue: GroupCommitQueue<Element, Waiter>
        /// The loop, while it waits for a request.
        var runner: CheckedContinuation<Void, Never>?
    }

    private let state: Mutex<State>
    private let weight: @Sendable (Element) -> Int
    private let bytes: @Sendable (Element) -> Int
    private let commit: @Sendable ([Element]) async throws -> [Output]

    /// - Parameters:
    ///   - limit: the most elements of one commit; a single request that holds more goes alone.
    ///   - weight: as how many an element counts against the limit.
    ///   - capacity: how much may wait while a commit is in flight; beyond it requests are refused.
    ///   - bytes: the memory that an element holds, about.
    ///   - commit: makes the elements durable, all or none, and answers one output for each, in their order.
    init(
        limit: Int, capacity: GroupCommitQueue<Element, CheckedContinuation<[Output], any Error>>.Capacity = .standard,
        weight: @escaping @Sendable (Element) -> Int = { _ in 1 },
        bytes: @escaping @Sendable (Element) -> Int = { _ in 256 },
        commit: @escaping @Sendable ([Element]) async throws -> [Output]
    ) {
        state = Mutex(State(queue: GroupCommitQueue(limit: limit, capacity: capacity)))
        self.weight = weight
        self.bytes = bytes
        self.commit = commit
    }

    /// Whether ``run()`` takes requests.
    var isRunning: Bool { state.withLock { $0.queue.isRunning } }

    /// The callers whose elements are in no commit yet.
    var waitingCount: Int { state.withLock { $0.queue.waitingCount } }

    /// Hands in elements and waits for the commit that they share, all of them, with others.
    ///
    /// Before ``run()`` it waits for it. Cancelling the caller withdraws the elements before ``run()``; afterwards it
    /// changes nothing, for they may be in a transaction already and the caller is to know what became of it.
    ///
    /// - Returns: one output for each element, in their order.
    /// - Throws: what the commit threw; ``StorageError`` `unavailable` once stopped and `overloaded` where too much
    ///   waits, when nothing was done.
    func submit(_ elements: [Element]) async throws -> [Output] {
        if elements.isEmpty { return [] }
        let ticket = state.withLock { $0.queue.makeTicket() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                enqueue(ticket, elements, waiter)
            }
        } onCancel: {
            let waiter = state.withLock { $0.queue.withdraw(ticket) }
            waiter?.resume(throwing: CancellationError())
        }
    }

    private func enqueue(_ ticket: Int, _ elements: [Element], _ waiter: Waiter) {
        let (weight, bytes) = elements.reduce((0, 0)) { ($0.0 + self.weight($1), $0.1 + self.bytes($1)) }
        let (action, runner) = state.withLock { state in
            // Read under the lock: a cancellation that comes later finds the ticket in the queue.
            let action = state.queue.submit(
                ticket, elements, waiter, isCancelled: Task.isCancelled, weight: weight, bytes: bytes)
            return (action, action == .wakeLoop ? state.runner.take() : nil)
        }
        switch action {
        case .wait: break
        case .wakeLoop: runner?.resume()
        case .refuse: waiter.resume(throwing: StorageError(.unavailable, "The store is stopping."))
        case .overload:
            waiter.resume(throwing: StorageError(.overloaded, "More waits for the database than may be held."))
        case .cancel: waiter.resume(throwing: CancellationError())
        }
    }

    /// The one loop: commits what waits until graceful shutdown or cancellation, then finishes what still waits.
    /// It is called once.
    func run() async {
        state.withLock { $0.queue.start() }
        await withTaskCancellationOrGracefulShutdownHandler {
            while let group = await next() { await serve(group) }
        } onCancelOrGracefulShutdown: {
            let runner = self.state.withLock { state in
                state.queue.stop()
                return state.runner.take()
            }
            runner?.resume()
        }
    }

    /// The next group; `nil` once stopped with nothing left.
    private func next() async -> [GroupCommitQueue<Element, Waiter>.Request]? {
        while true {
            switch state.withLock({ $0.queue.next() }) {
            case .commit(let group): return group
            case .finish: return nil
            case .wait: await park()
            }
        }
    }

    private func park() async {
        await withCheckedContinuation { (runner: CheckedContinuation<Void, Never>) in
            let isNeeded = state.withLock { state in
                if !state.queue.canWait { return true }
                state.runner = runner
                return false
            }
            if isNeeded { runner.resume() }
        }
    }

    private func serve(_ group: [GroupCommitQueue<Element, Waiter>.Request]) async {
        do {
            let elements = group.count == 1 ? group[0].elements : group.flatMap(\.elements)
            let outputs = try await commit(elements)
            guard outputs.count == elements.count else {
                throw StorageError(.failed, "A commit answered \(outputs.count) of \(elements.count) requests.")
            }
            var position = 0
            for request in group {
                let end = position + request.elements.count
                request.waiter.resume(returning: Array(outputs[position..<end]))
                position = end
            }
        } catch {
            // The loop's own cancellation is nothing that its callers asked for; and the commit may have been done.
            let reason = error is CancellationError ? StorageError(.connectionLost, "The store was stopped.") : error
            for request in group { request.waiter.resume(throwing: reason) }
        }
    }
}
