import ServiceRuntime
import Synchronization

/// Admits large requests to the store in order of arrival, as many at a time as hold ``Limit/maxBytes`` together.
///
/// The store commits requests in order of arrival. Small requests do not wait here, so in the store they wait for at
/// most that many bytes. A large request is sealed only in its turn, so copies of payloads are bounded as well.
final class StoringTurns: Sendable {
    enum Limit {
        /// The bytes that the store may hold at a time; a larger request is stored alone.
        static let maxBytes = 8 * 1024 * 1024
    }

    private let queue = Mutex(TurnQueue())

    /// The number of requests that wait for their turn.
    var waitingCount: Int { queue.withLock { $0.waiting.count } }

    /// Runs the body when it is the request's turn; at once for a small request.
    ///
    /// - Parameter bytes: the bytes that the store gets from the request.
    /// - Throws: any error of the body; `CancellationError` if the task is cancelled while it waits.
    func withTurn<Value>(of bytes: Int, _ body: () async throws -> Value) async throws -> Value {
        guard bytes > RequestBudget.Limit.maxSmallBytes else { return try await body() }
        let bytes = min(bytes, Limit.maxBytes)
        guard await enter(bytes) else { throw CancellationError() }
        defer { resume(queue.withLock { $0.leave(bytes) }) }
        return try await body()
    }

    /// - Returns: whether it is the request's turn; `false` if the task was cancelled.
    private func enter(_ bytes: Int) async -> Bool {
        let ticket = queue.withLock { $0.nextTicket() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let result: Bool? = queue.withLock { queue in
                    // Checked under the lock: a later cancellation finds the ticket in the queue.
                    if Task.isCancelled { return false }
                    return queue.enter(TurnQueue.Waiter(ticket: ticket, bytes: bytes, continuation: continuation))
                }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            let (cancelled, admitted) = queue.withLock { $0.remove(ticket) }
            cancelled?.continuation.resume(returning: false)
            resume(admitted)
        }
    }

    private func resume(_ admitted: [TurnQueue.Waiter]) {
        for waiter in admitted { waiter.continuation.resume(returning: true) }
    }
}

/// The state of ``StoringTurns``.
private struct TurnQueue {
    struct Waiter {
        let ticket: Int
        let bytes: Int
        let continuation: CheckedContinuation<Bool, Never>
    }

    private(set) var waiting: [Waiter] = []
    private var bytes = 0
    private var lastTicket = 0

    mutating func nextTicket() -> Int {
        lastTicket += 1
        return lastTicket
    }

    /// - Returns: `true` if it is the request's turn, `nil` if it was queued.
    mutating func enter(_ waiter: Waiter) -> Bool? {
        waiting.append(waiter)
        guard waiting.count == 1, !admit().isEmpty else { return nil }
        return true
    }

    /// - Returns: the requests whose turn it is now.
    mutating func leave(_ bytes: Int) -> [Waiter] {
        self.bytes -= bytes
        return admit()
    }

    /// Removes a cancelled request; those behind it may fit now.
    mutating func remove(_ ticket: Int) -> (cancelled: Waiter?, admitted: [Waiter]) {
        guard let index = waiting.firstIndex(where: { $0.ticket == ticket }) else { return (nil, []) }
        let cancelled = waiting.remove(at: index)
        return (cancelled, admit())
    }

    private mutating func admit() -> [Waiter] {
        var admitted: [Waiter] = []
        while let next = waiting.first, bytes + next.bytes <= StoringTurns.Limit.maxBytes {
            bytes += next.bytes
            admitted.append(waiting.removeFirst())
        }
        return admitted
    }
}
