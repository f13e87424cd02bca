import SecurePushCore
import ServiceLifecycle
import Synchronization

/// Combines concurrent requests into shared commits: the requests that arrive during one commit form the next one.
///
/// A durable commit costs one disk flush regardless of its size, so many callers share one. There is no timer: a single
/// request is committed at once, and groups grow with the load.
final class GroupCommit<Element: Sendable, Output: Sendable>: Sendable {
    private typealias Waiter = CheckedContinuation<[Output], any Error>

    private struct State {
        var queue: GroupCommitQueue<Element, Waiter>
        /// Resumes the loop, while it waits for a request.
        var runner: CheckedContinuation<Void, Never>?
    }

    private let state: Mutex<State>
    private let weight: @Sendable (Element) -> Int
    private let bytes: @Sendable (Element) -> Int
    private let commit: @Sendable ([Element]) async throws -> [Output]

    /// - Parameters:
    ///   - limit: the maximum weight of one commit; a single request above the limit is committed alone.
    ///   - capacity: how much may wait while a commit is in flight; beyond that requests are refused.
    ///   - weight: how much an element counts against the limit.
    ///   - bytes: the approximate memory of an element.
    ///   - commit: makes all elements durable, or none; returns one output per element, in their order.
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

    /// Whether ``run()`` accepts requests.
    var isRunning: Bool { state.withLock { $0.queue.isRunning } }

    /// The number of callers whose elements are in no commit yet.
    var waitingCount: Int { state.withLock { $0.queue.waitingCount } }

    /// Submits elements, and waits for the commit that contains all of them.
    ///
    /// Elements that are submitted before ``run()`` wait for it. Cancelling the caller withdraws them until then.
    /// Afterwards cancelling has no effect: the elements may already be in a transaction, and the caller must learn its
    /// outcome.
    ///
    /// - Returns: one output per element, in their order.
    /// - Throws: the error of the commit; ``StorageError`` with code `unavailable` after shutdown, or `overloaded` if
    ///   too much is waiting. In these two cases nothing was done.
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
            // Read under the lock: a later cancellation finds the ticket in the queue.
            let action = state.queue.submit(
                ticket, elements, waiter, isCancelled: Task.isCancelled, weight: weight, bytes: bytes)
            return (action, action == .wakeLoop ? state.runner.take() : nil)
        }
        switch action {
        case .wait: break
        case .wakeLoop: runner?.resume()
        case .refuse: waiter.resume(throwing: StorageError(.unavailable, "The store is stopping."))
        case .overload:
            waiter.resume(throwing: StorageError(.overloaded, "Too many requests are waiting for the database."))
        case .cancel: waiter.resume(throwing: CancellationError())
        }
    }

    /// Commits waiting requests until graceful shutdown or cancellation, then those that still wait. Call it once.
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

    /// The next group; `nil` once stopped and empty.
    private func next() async -> [GroupCommitQueue<Element, Waiter>.Request]? {
        while true {
            switch state.withLock({ $0.queue.next() }) {
            case .commit(let group): return group
            case .finish: return nil
            case .wait: await waitForRequest()
            }
        }
    }

    private func waitForRequest() async {
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
                throw StorageError(
                    .failed, "A commit returned \(outputs.count) results for \(elements.count) requests.")
            }
            var position = 0
            for request in group {
                let end = position + request.elements.count
                request.waiter.resume(returning: Array(outputs[position..<end]))
                position = end
            }
        } catch {
            // Only the loop was cancelled, not its callers; and the commit may have succeeded.
            let reason = error is CancellationError ? StorageError(.connectionLost, "The store was stopped.") : error
            for request in group { request.waiter.resume(throwing: reason) }
        }
    }
}
