import DequeModule
import Synchronization

/// Where the consumer's thread leaves deliveries, and callers take them without a call of that thread.
///
/// The broker's prefetch bounds it.
final class DeliveryIntake: Sendable {
    typealias Waiter = CheckedContinuation<[AMQPDelivery]?, Never>

    private struct State {
        /// Not empty only while nobody waits.
        var deliveries: Deque<AMQPDelivery> = []
        var waiters: Deque<(ticket: UInt64, limit: Int, caller: Waiter)> = []
        var lastTicket: UInt64 = 0
        var isClosed = false

        mutating func take(_ limit: Int) -> [AMQPDelivery] {
            let count = min(max(1, limit), deliveries.count)
            defer { deliveries.removeFirst(count) }
            return Array(deliveries.prefix(count))
        }
    }

    private let state = Mutex(State())

    /// The deliveries that have arrived, at most `limit`; waits while there are none.
    ///
    /// - Returns: `nil` once it is closed, or if the task is cancelled.
    func next(limit: Int) async -> [AMQPDelivery]? {
        let ticket = state.withLock { state in
            state.lastTicket += 1
            return state.lastTicket
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { caller in
                let (isAnswered, deliveries) = state.withLock { state -> (Bool, [AMQPDelivery]?) in
                    // Read under the lock: a later cancellation finds the waiter.
                    if state.isClosed || Task.isCancelled { return (true, nil) }
                    if !state.deliveries.isEmpty { return (true, state.take(limit)) }
                    state.waiters.append((ticket, limit, caller))
                    return (false, nil)
                }
                if isAnswered { caller.resume(returning: deliveries) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiters.firstIndex { $0.ticket == ticket }.map { state.waiters.remove(at: $0) }
            }
            waiter?.caller.resume(returning: nil)
        }
    }

    /// Adds deliveries, and gives them to those who wait.
    func put(_ deliveries: [AMQPDelivery]) {
        if deliveries.isEmpty { return }
        let served = state.withLock { state -> [(caller: Waiter, deliveries: [AMQPDelivery])] in
            state.deliveries.append(contentsOf: deliveries)
            var served: [(caller: Waiter, deliveries: [AMQPDelivery])] = []
            while !state.deliveries.isEmpty, let waiter = state.waiters.popFirst() {
                served.append((waiter.caller, state.take(waiter.limit)))
            }
            return served
        }
        for (caller, deliveries) in served { caller.resume(returning: deliveries) }
    }

    /// Removes all that nobody has taken.
    func removeAll() -> Deque<AMQPDelivery> {
        state.withLock { state in
            defer { state.deliveries = [] }
            return state.deliveries
        }
    }

    /// Gives nothing more to callers.
    ///
    /// - Returns: those who wait, whom the caller has to answer.
    func close() -> [Waiter] {
        state.withLock { state in
            defer { state.waiters = [] }
            state.isClosed = true
            return state.waiters.map(\.caller)
        }
    }
}
