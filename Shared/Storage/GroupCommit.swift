import Domain
import ServiceLifecycle
import Synchronization

/// Combines concurrent requests into shared commits: the requests that arrive during one commit form the next one.
///
/// A durable commit costs one disk flush regardless of its size, so many callers share one. There is no timer: a single
/// request is committed at once, and groups grow with the load.
///
/// There is no task either. The first caller to submit while nothing is in flight starts the commit, and the end of a
/// commit starts the next one, on whatever thread that is. So requests of callbacks and of tasks share one queue, and a
/// callback waits for no thread but the database's.
///
/// If the database refuses a commit for good (``StorageError/isRefusal(_:)``), its callers are split in halves, which
/// are committed before anything else, and so on. So one value that the database refuses fails its own caller only.
///
/// Decision: docs/decisions/0006-group-commit.md
final class GroupCommit<Element: Sendable, Output: Sendable>: Sendable {
    /// Receives one output per element in their order, or why nothing is known to be durable.
    typealias Completion = @Sendable (Result<[Output], any Error>) -> Void
    typealias Queue = GroupCommitQueue<Element, Waiter>

    private let state: Mutex<State>
    private let weight: @Sendable (Element) -> Int
    private let bytes: @Sendable (Element) -> Int
    private let cancel: @Sendable () -> Void
    private let commit: @Sendable ([Element], @escaping Completion) -> Void

    /// - Parameters:
    ///   - limit: the maximum weight of one commit; a single request above the limit is committed alone.
    ///   - capacity: how much may wait while a commit is in flight; beyond that requests are refused.
    ///   - weight: how much an element counts against the limit.
    ///   - bytes: the approximate memory of an element.
    ///   - cancel: ends the commit in flight, and all later ones, with an error as soon as it can.
    ///   - commit: makes all elements durable, or none if it fails; returns at once, and calls its completion exactly
    ///     once, on any thread, also before it returns.
    init(
        limit: Int, capacity: Queue.Capacity = .standard, weight: @escaping @Sendable (Element) -> Int = { _ in 1 },
        bytes: @escaping @Sendable (Element) -> Int = { _ in 256 }, cancel: @escaping @Sendable () -> Void = {},
        commit: @escaping @Sendable ([Element], @escaping Completion) -> Void
    ) {
        state = Mutex(State(queue: GroupCommitQueue(limit: limit, capacity: capacity)))
        self.weight = weight
        self.bytes = bytes
        self.cancel = cancel
        self.commit = commit
    }

    /// For a commit that is an asynchronous function. The function runs in a task of its own, which is cancelled with
    /// ``run()``.
    convenience init(
        limit: Int, capacity: Queue.Capacity = .standard, weight: @escaping @Sendable (Element) -> Int = { _ in 1 },
        bytes: @escaping @Sendable (Element) -> Int = { _ in 256 },
        commit: @escaping @Sendable ([Element]) async throws -> [Output]
    ) {
        let tasks = CommitTasks()
        self.init(limit: limit, capacity: capacity, weight: weight, bytes: bytes, cancel: { tasks.cancel() }) {
            elements, completion in
            tasks.begin(then: completion) { try await commit(elements) }
        }
    }

    /// Only requests that wait for a ``run()`` that never came are left: a commit in flight holds this object.
    deinit {
        for waiter in state.withLock({ $0.queue.removeAll() }) { waiter.fail(StorageError.refused) }
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
            try await withCheckedThrowingContinuation { caller in
                enqueue(ticket, elements, .all { caller.resume(with: $0) })
            }
        } onCancel: {
            let waiter = state.withLock { $0.queue.withdraw(ticket) }
            waiter?.fail(CancellationError())
        }
    }

    /// Submits elements with a callback, without a task.
    ///
    /// - Parameter completion: called exactly once with what ``submit(_:)`` returns or throws. A refusal is given at
    ///   once on the caller's thread; everything else on the thread on which the commit ends, so it must not block.
    func submit(_ elements: [Element], then completion: @escaping Completion) {
        if elements.isEmpty { return completion(.success([])) }
        enqueue(nil, elements, .all(completion))
    }

    /// Submits one element; `completion` gets its output.
    func submit(_ element: Element, then completion: @escaping @Sendable (Result<Output, any Error>) -> Void) {
        enqueue(nil, CollectionOfOne(element), .one(completion))
    }

    private func enqueue(_ ticket: Int?, _ elements: some Collection<Element>, _ waiter: Waiter) {
        var (weight, bytes) = (0, 0)
        for element in elements {
            weight += self.weight(element)
            bytes += self.bytes(element)
        }
        let action = state.withLock { [weight, bytes] state in
            // Read under the lock: a later cancellation finds the ticket in the queue.
            let isCancelled = ticket != nil && Task.isCancelled
            return state.queue.submit(
                ticket, elements, waiter, isCancelled: isCancelled, weight: weight, bytes: bytes)
        }
        switch action {
        case .wait: break
        case .begin: proceed()
        case .refuse: waiter.fail(StorageError.refused)
        case .overload: waiter.fail(StorageError.overloaded)
        case .cancel: waiter.fail(CancellationError())
        }
    }

    /// Commits waiting requests until graceful shutdown or cancellation, then those that still wait. Call it once.
    func run() async {
        start()
        await withTaskCancellationHandler {
            await withGracefulShutdownHandler {
                await waitUntilStopped()
            } onGracefulShutdown: {
                self.stop()
            }
        } onCancel: {
            self.cancel()
            self.stop()
        }
    }

    /// Accepts requests without ``run()``, for a store that is never stopped.
    func start() {
        if state.withLock({ $0.queue.start() }) { proceed() }
    }

    private func stop() {
        if state.withLock({ $0.queue.stop() }) { proceed() }
    }

    private func waitUntilStopped() async {
        await withCheckedContinuation { (runner: CheckedContinuation<Void, Never>) in
            let isStopped = state.withLock { state in
                if !state.queue.isStopped { state.runner = runner }
                return state.queue.isStopped
            }
            if isStopped { runner.resume() }
        }
    }
}

extension GroupCommit {
    /// Takes the next step, while no commit is in flight.
    ///
    /// - Parameter last: the commit that has just ended. Its outputs are delivered when the next commit is on its way,
    ///   so that the database works while the callbacks run.
    private func proceed(after last: Ended? = nil) {
        var last = last
        while true {
            let (elements, runner) = state.withLock { $0.next() }
            guard let elements else {
                last?.deliver()
                runner?.resume()
                return
            }
            commit(elements) { self.end($0) }
            let ended = state.withLock { $0.begun() }
            last?.deliver()
            guard let ended else { return }
            // It counts as in flight until the next turn. So requests that a callback submits here wait for that turn:
            // the stack does not grow if commits end at once, for example because there is no connection.
            ended.deliver()
            last = nil
        }
    }

    private func end(_ result: Result<[Output], any Error>) {
        if let ended = state.withLock({ $0.end(result) }) { proceed(after: ended) }
    }

    /// Whom an output goes to.
    enum Waiter: Sendable {
        case one(@Sendable (Result<Output, any Error>) -> Void)
        case all(Completion)

        func fail(_ error: any Error) {
            switch self {
            case .one(let completion): completion(.failure(error))
            case .all(let completion): completion(.failure(error))
            }
        }
    }

    /// A commit with its result.
    private struct Ended: Sendable {
        let requests: [Queue.Request]
        let result: Result<[Output], any Error>

        func deliver() {
            switch result {
            case .success(let outputs):
                let count = requests.reduce(0) { $0 + $1.count }
                guard outputs.count == count else {
                    let message = "A commit returned \(outputs.count) results for \(count) requests."
                    return fail(StorageError(.failed, message))
                }
                deliver(outputs)
            case .failure(let error):
                // The commit was cancelled, not its callers; and it may have succeeded.
                fail(error is CancellationError ? StorageError(.connectionLost, "The store was stopped.") : error)
            }
        }

        private func deliver(_ outputs: [Output]) {
            var position = 0
            for request in requests {
                let end = position + request.count
                switch request.waiter {
                case .one(let completion): completion(.success(outputs[position]))
                case .all(let completion):
                    completion(.success(requests.count == 1 ? outputs : Array(outputs[position..<end])))
                }
                position = end
            }
        }

        private func fail(_ error: any Error) {
            for request in requests { request.waiter.fail(error) }
        }
    }

    private struct State: Sendable {
        var queue: Queue
        var inFlight: Queue.Group?
        /// The parts of a group that was refused, the next one last.
        var parts: [Queue.Group] = []
        /// Whether the thread that began it has not returned from the call yet; that thread goes on then.
        var isBeginning = false
        /// The result of a commit that ended before the call that began it has returned.
        var early: Result<[Output], any Error>?
        /// Resumes ``GroupCommit/run()`` when all is done.
        var runner: CheckedContinuation<Void, Never>?

        /// The elements of the next commit; otherwise who waits for the end, if this is it.
        mutating func next() -> (elements: [Element]?, runner: CheckedContinuation<Void, Never>?) {
            switch parts.popLast().map(Queue.NextAction.commit) ?? queue.next() {
            case .commit(let group):
                inFlight = group
                isBeginning = true
                return (group.elements, nil)
            case .wait:
                isBeginning = false
                return (nil, nil)
            case .finish: return (nil, runner.take())
            }
        }

        /// The call has returned; the commit, if it has ended already.
        mutating func begun() -> Ended? {
            guard let result = early.take() else {
                isBeginning = false
                return nil
            }
            return takeInFlight(result)
        }

        /// The commit has ended; `nil` if the thread that began it goes on.
        mutating func end(_ result: Result<[Output], any Error>) -> Ended? {
            guard isBeginning else { return takeInFlight(result) }
            early = result
            return nil
        }

        /// The commit in flight with its result. A group that is split has no result; its parts have.
        private mutating func takeInFlight(_ result: Result<[Output], any Error>) -> Ended {
            guard let group = inFlight.take() else { return Ended(requests: [], result: result) }
            if case .failure(let error) = result, StorageError.isRefusal(error), let halves = group.halves {
                parts += [halves.second, halves.first]
                return Ended(requests: [], result: result)
            }
            return Ended(requests: group.requests, result: result)
        }
    }
}

extension StorageError {
    /// Whether a database refused a statement, so that another try with the same values fails too. Nothing was done.
    static func isRefusal(_ error: any Error) -> Bool { (error as? StorageError)?.code == .failed }

    fileprivate static let refused = StorageError(.unavailable, "The store is stopping.")
    fileprivate static let overloaded = StorageError(.overloaded, "Too many requests are waiting for the database.")
}
