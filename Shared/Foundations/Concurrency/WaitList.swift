internal import DequeModule
package import Synchronization

/// Callers that wait for an answer, in order of arrival: a part of the state that a lock of their owner guards.
///
/// A caller joins with ``Synchronization/Mutex/wait(in:size:_:)``, which takes it out again when its task is cancelled.
/// The owner removes those who get an answer, and resumes them once it has given up the lock: the runtime may hold a
/// lock of its own while it runs a cancellation handler, which asks for the owner's.
package struct WaitList<Answer: Sendable>: Sendable {
    package typealias Ticket = UInt64

    /// A caller that waits.
    package struct Waiter: Sendable {
        let ticket: Ticket
        /// How much it waits for, in the unit of the owner.
        package let size: Int
        fileprivate let caller: CheckedContinuation<Answer, any Error>

        package func resume(returning answer: Answer) { caller.resume(returning: answer) }
    }

    private var waiters: Deque<Waiter> = []
    private var lastTicket: Ticket = 0

    package init() {}

    package var count: Int { waiters.count }
    package var isEmpty: Bool { waiters.isEmpty }
    package var first: Waiter? { waiters.first }
    /// Those who wait now, for ``remove(_:)`` later.
    package var tickets: Set<Ticket> { Set(waiters.map(\.ticket)) }

    @discardableResult
    package mutating func popFirst() -> Waiter? { waiters.popFirst() }

    /// - Returns: those that still wait, in order of arrival.
    package mutating func remove(_ tickets: Set<Ticket>) -> [Waiter] {
        defer { waiters.removeAll { tickets.contains($0.ticket) } }
        return waiters.filter { tickets.contains($0.ticket) }
    }

    package mutating func removeAll() -> [Waiter] {
        defer { waiters = [] }
        return Array(waiters)
    }

    fileprivate mutating func remove(_ ticket: Ticket) -> Waiter? {
        waiters.firstIndex { $0.ticket == ticket }.map { waiters.remove(at: $0) }
    }

    fileprivate mutating func nextTicket() -> Ticket {
        lastTicket += 1
        return lastTicket
    }

    fileprivate mutating func append(_ waiter: Waiter) { waiters.append(waiter) }
}

extension WaitList.Waiter where Answer == Void {
    package func resume() { resume(returning: ()) }
}

extension Mutex where Value: Sendable {
    /// Waits in a list until the owner answers.
    ///
    /// It stays on the actor of the caller until the caller is in the list.
    ///
    /// - Parameters:
    ///   - size: how much the caller waits for, in the unit of the owner.
    ///   - enter: runs under the lock, also if the task is cancelled already. Its answer, if it has one, is the result.
    /// - Throws: `CancellationError` if the task is cancelled before there is an answer.
    package nonisolated(nonsending) func wait<Answer>(
        in list: any WritableKeyPath<Value, WaitList<Answer>> & Sendable, size: Int = 1,
        _ enter: (inout Value) -> Answer? = { _ in nil }
    ) async throws -> Answer {
        let ticket = withLock { $0[keyPath: list].nextTicket() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { caller in
                let result = withLock { state -> Result<Answer, any Error>? in
                    if let answer = enter(&state) { return .success(answer) }
                    // Read under the lock: a later cancellation finds the caller.
                    if Task.isCancelled { return .failure(CancellationError()) }
                    state[keyPath: list].append(WaitList.Waiter(ticket: ticket, size: size, caller: caller))
                    return nil
                }
                if let result { caller.resume(with: result) }
            }
        } onCancel: {
            let waiter = withLock { $0[keyPath: list].remove(ticket) }
            waiter?.caller.resume(throwing: CancellationError())
        }
    }
}
